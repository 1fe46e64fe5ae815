# A database with datasets survives pg_dump and restore, also by an owner who
# is no superuser, plain and parallel, and as a copy made with TEMPLATE.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('dump');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

my $dir = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', 'CREATE ROLE keeper LOGIN; CREATE DATABASE source OWNER keeper');
$node->safe_psql('source', HotblocksCluster::keepers_datasets() . qq(
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, m mine.mood, a text[])
		SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.t SELECT g, CASE g % 3 WHEN 0 THEN 'sad' WHEN 1 THEN 'glad' END::mine.mood, ARRAY['x', g::text]
		FROM generate_series(1, 3000) g;
));

# what must be the same afterwards
sub digest
{
	my ($db) = @_;

	return $node->safe_psql($db, q(
		SET hotblocks.missing_data = 'ignore';
		SELECT md5(string_agg(b::text, ';' ORDER BY number)) FROM eth.blocks b;
		SELECT md5(string_agg(t::text, ';' ORDER BY block_number, transaction_index)) FROM eth.transactions t;
		SELECT md5(string_agg(l::text, ';' ORDER BY block_number, log_index)) FROM eth.logs l;
		SELECT md5(string_agg(t::text, ';' ORDER BY block_number, transaction_index, trace_address)) FROM eth.traces t;
		SELECT md5(string_agg(t::text, ';' ORDER BY n)) FROM mine.t t;
		SELECT dataset, head, head_hash, version, trace_format, rows FROM hotblocks.status('eth');
		SELECT * FROM hotblocks.coverage ORDER BY 1, 2, 3;
		SELECT name, kind, linkage, owner, chunks, rows FROM hotblocks.datasets ORDER BY 1;
		SELECT * FROM hotblocks.unknown_members ORDER BY 1, 2));
}

my $before = digest('source');
like($before, qr/^eth\|419\|/m, 'there is something to dump');

# plain, restored by the owner into a database where a superuser has made the
# extension
command_ok([ 'pg_dump', '-f', "$dir/plain.sql", $node->connstr('source') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE plain OWNER keeper');
$node->safe_psql('plain', 'CREATE EXTENSION hotblocks; GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO keeper');
my ($out, $err) = ('', '');
$node->psql('plain', "SET SESSION AUTHORIZATION keeper;\n" . slurp_file("$dir/plain.sql"), stdout => \$out, stderr => \$err, on_error_stop => 0);
is(join("\n", grep { /ERROR|FATAL/ } split /\n/, $err), '', 'the owner restores it without an error');
is(digest('plain'), $before, 'and all is there');

# in parallel, from a directory, by a superuser
command_ok([ 'pg_dump', '-Fd', '-j2', '-f', "$dir/parallel", $node->connstr('source') ], 'pg_dump in parallel');
$node->safe_psql('postgres', 'CREATE DATABASE parallel');
command_ok([ 'pg_restore', '-j2', '-d', $node->connstr('parallel'), "$dir/parallel" ], 'pg_restore in parallel');
is(digest('parallel'), $before, 'all is there');

# the restored chain goes on
like($node->safe_psql('parallel', q(
	SELECT head, version FROM hotblocks.extend('eth', (SELECT json_build_object('block', json_build_object(
		'number', '0x1a4', 'hash', '0x' || repeat('ab', 32), 'parentHash', hotblocks.to_hex(head_hash),
		'timestamp', '0x7fffffff', 'transactions', json_build_array()))::text FROM hotblocks.status('eth'))))),
	qr/^420\|2$/, 'a restored dataset is extended');
is($node->safe_psql('parallel', q(SELECT count(*) FROM eth.blocks)), '421', 'and read');
$node->safe_psql('parallel', q(INSERT INTO mine.t VALUES (5000, 'sad', '{}')));
is($node->safe_psql('parallel', q(SELECT count(*), max(n) FROM mine.t)), '3001|5000', 'and written');

$node->safe_psql('postgres', 'CREATE DATABASE copied TEMPLATE source');
is(digest('copied'), $before, 'a copy of the database reads the same');

$node->stop;
done_testing();
