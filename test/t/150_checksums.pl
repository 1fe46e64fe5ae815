# The tables of a dataset are ordinary ones: with data checksums on, every page
# is in order after loads, aborted ones too, and amcheck finds nothing.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('checksums');
$node->init(extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

my $chain = HotblocksCluster::sample_chain();
$node->safe_psql('postgres', qq(
	CREATE EXTENSION hotblocks;
	CREATE EXTENSION amcheck;
	SELECT hotblocks.create_dataset('eth', 'evm');
	BEGIN;
	SELECT hotblocks.load_file('eth', '$chain');
	ROLLBACK;
	SELECT hotblocks.load_file('eth', '$chain');
	SELECT hotblocks.create_dataset('f', 'free');
	CREATE FOREIGN TABLE f.t (n bigint, x text) SERVER f OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO f.t SELECT g, md5(g::text) || repeat(md5(g::text), 20) FROM generate_series(1, 20000) g;
	TRUNCATE f.t;
	VACUUM hotblocks_f.piece_hot));
is($node->safe_psql('postgres', q(
		SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace,
			LATERAL verify_heapam(c.oid)
		WHERE nspname LIKE 'hotblocks_%' AND relkind = 'r')), '0', 'tables are in order');
is($node->safe_psql('postgres', q(
		SELECT count(bt_index_parent_check(c.oid, true)) > 10 FROM pg_class c
		JOIN pg_namespace n ON n.oid = relnamespace
		WHERE nspname LIKE 'hotblocks_%' AND relkind = 'i')), 't', 'so are indexes');
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'every page has its checksum');
done_testing();
