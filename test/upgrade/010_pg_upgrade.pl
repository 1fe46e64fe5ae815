# pg_upgrade from the PostgreSQL in OLD_INSTALL to the one under test, copying
# and linking: all reads as before, and goes on.
#
# Both have the extension installed where pg_upgrade looks, which is the
# system's folders: so this runs in the chroots of tools/check_versions, and on
# the server of tools/check_assert (to itself).
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'OLD_INSTALL is not set' unless $ENV{OLD_INSTALL};
delete $ENV{HOTBLOCKS_INST};

my $newbin = `$ENV{PG_CONFIG} --bindir`;
chomp $newbin;

# 18 has checksums unless told otherwise; both sides must agree
sub node
{
	my ($name, %params) = @_;
	my $node = HotblocksCluster->new($name, %params);

	$node->init(extra => ['--data-checksums']);
	$node->append_conf('postgresql.conf', "fsync = off\n");
	return $node;
}

# All that is read.  Who has all rights has MAINTAIN (m) too since 17.
sub digest
{
	my ($node) = @_;

	return $node->safe_psql('chains', q(
		SET hotblocks.missing_data = 'ignore';
		SELECT md5(string_agg(b::text, ';' ORDER BY number)) FROM eth.blocks b;
		SELECT md5(string_agg(t::text, ';' ORDER BY block_number, transaction_index)) FROM eth.transactions t;
		SELECT md5(string_agg(l::text, ';' ORDER BY block_number, log_index)) FROM eth.logs l;
		SELECT md5(string_agg(t::text, ';' ORDER BY block_number, transaction_index, trace_address)) FROM eth.traces t;
		SELECT md5(string_agg(t::text, ';' ORDER BY n)) FROM mine.t t;
		SELECT md5(string_agg(v::text, ';' ORDER BY block_number, log_index)) FROM other.transfers v;
		SELECT count(*), sum(n), min(n), max(n) FROM mine.parent;
		SELECT dataset, head, head_hash, version, trace_format, rows FROM hotblocks.status('eth');
		SELECT * FROM hotblocks.coverage ORDER BY 1, 2, 3;
		SELECT name, kind, linkage, owner, chunks, rows FROM hotblocks.datasets ORDER BY 1;
		SELECT dataset, table_name, first_block, last_block, rows FROM hotblocks.chunks ORDER BY 1, 2, 3, 4;
		SELECT c.oid::regclass, c.relkind, replace(c.relacl::text, 'xtm/', 'xt/') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
			WHERE nspname ~ '^(hotblocks|eth|mine|other)' AND relkind IN ('r', 'v', 'f', 'p') ORDER BY c.oid::regclass::text;
		SELECT srvname, srvacl, srvoptions FROM pg_foreign_server ORDER BY 1));
}

# The tables that a dataset names are those of its schema.
my $names_are_right = q(
	SELECT bool_and(format('%I.head', 'hotblocks_' || d.name)::regclass = head_table
		AND format('%I.chunk', 'hotblocks_' || d.name)::regclass = chunk_table
		AND format('%I.piece_hot', 'hotblocks_' || d.name)::regclass = piece_hot_table
		AND format('%I.stored_column', 'hotblocks_' || d.name)::regclass = column_table
		AND format('%I.coverage', 'hotblocks_' || d.name)::regclass = coverage_table
		AND format('%I.gap', 'hotblocks_' || d.name)::regclass = gap_table
		AND format('%I.transition', 'hotblocks_' || d.name)::regclass = transition_table
		AND format('%I.feed', 'hotblocks_' || d.name)::regclass = feed_table)
	FROM hotblocks.dataset d);

my $old = node('old', install_path => $ENV{OLD_INSTALL});
$old->start;
note('from ' . $old->safe_psql('postgres', 'SHOW server_version'));
$old->safe_psql('postgres', 'CREATE ROLE keeper LOGIN; CREATE ROLE reader LOGIN; CREATE DATABASE chains OWNER keeper; CREATE DATABASE empty');
$old->safe_psql('empty', 'CREATE EXTENSION hotblocks');
$old->safe_psql('chains', HotblocksCluster::keepers_datasets() . qq(
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, m mine.mood, a text[], gone int, CHECK (n < 1000000))
		SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.t SELECT g, CASE g % 3 WHEN 0 THEN 'sad' WHEN 1 THEN 'glad' END::mine.mood, ARRAY['x', g::text], g
		FROM generate_series(1, 3000) g;
	ALTER FOREIGN TABLE mine.t DROP COLUMN gone;
	ALTER FOREIGN TABLE mine.t ADD COLUMN late numeric OPTIONS (column 'late');
	INSERT INTO mine.t VALUES (3001, 'glad', '{}', 1.50);
	CREATE TABLE mine.parent (n bigint NOT NULL) PARTITION BY RANGE (n);
	CREATE FOREIGN TABLE mine.part PARTITION OF mine.parent FOR VALUES FROM (0) TO (1000)
		SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.parent SELECT generate_series(0, 999);
	GRANT USAGE ON SCHEMA eth, mine TO reader;
	GRANT SELECT ON eth.logs, mine.t TO reader;
	RESET SESSION AUTHORIZATION;
	CREATE SCHEMA other;
	CREATE FOREIGN TABLE other.logs (block_number bigint, log_index int, address bytea, topic0 bytea)
		SERVER eth OPTIONS ("table" 'logs');
	CREATE VIEW other.transfers AS SELECT * FROM other.logs
		WHERE topic0 = hotblocks.topic0('Transfer(address,address,uint256)');
	ANALYZE eth.logs, mine.t;
));
# Since 15.20 every column has an option of the server's own making, pg_attver,
# in pg_attribute.attoptions, which pg_dump of an 18.6 knows nothing of: it dumps
# ALTER COLUMN ... SET (pg_attver=...), and the server rejects that, for plain
# tables too.  RESET does not remove it.
sub forget_attribute_versions
{
	my ($node) = @_;

	foreach my $db (split /\n/, $node->safe_psql('postgres', 'SELECT datname FROM pg_database WHERE datallowconn'))
	{
		$node->safe_psql($db, q(
			UPDATE pg_attribute SET attoptions = (SELECT array_agg(o) FROM unnest(attoptions) o WHERE o !~ '^pg_attver=')
			WHERE attoptions::text ~ 'pg_attver=' AND attrelid >= 16384));
	}
}

my $before = digest($old);
like($before, qr/^eth\|419\|/m, 'there is something to upgrade');
is($old->safe_psql('chains', $names_are_right), 't', 'datasets name their tables');
my $probe = node('probe');
$probe->start;
$probe->psql('postgres', 'CREATE TABLE t (n int); ALTER TABLE t ALTER n SET (pg_attver=1)', stderr => \my $rejected);
$probe->stop;
forget_attribute_versions($old) if $rejected =~ /unrecognized parameter "pg_attver"/;
$old->stop;

foreach my $mode ('--copy', '--link')
{
	my $from = $old;
	my $new = node('new' . $mode =~ s/-//gr);

	# a linked cluster is used up: it is the last
	chdir $PostgreSQL::Test::Utils::tmp_check or die "could not enter tmp_check: $!";
	command_ok(
		[ "$newbin/pg_upgrade", '--no-sync', $mode,
			'-d', $from->data_dir, '-D', $new->data_dir,
			'-b', "$ENV{OLD_INSTALL}/bin", '-B', $newbin,
			'-s', $new->host, '-p', $from->port, '-P', $new->port ],
		"pg_upgrade $mode");
	$new->start;
	note('to ' . $new->safe_psql('postgres', 'SHOW server_version'));
	is(digest($new), $before, 'all is as before');
	is($new->safe_psql('chains', $names_are_right), 't', 'datasets name their tables');
	is($new->safe_psql('chains', q(SET ROLE reader; SELECT count(*) FROM mine.t)), '3001', 'rights are as before');
	is($new->safe_psql('chains', q(SELECT count(*), max(late) FROM mine.t WHERE n BETWEEN 2990 AND 3001 AND m = 'glad')),
		'4|1.50', 'values of types whose numbers could have changed are found');

	$new->safe_psql('chains', 'ANALYZE eth.logs, eth.blocks, mine.t');
	is($new->safe_psql('chains', q(SELECT reltuples FROM pg_class WHERE oid = 'mine.t'::regclass)), '3001', 'ANALYZE');
	like($new->safe_psql('chains', q(
		SELECT head, version FROM hotblocks.extend('eth', (SELECT json_build_object('block', json_build_object(
			'number', '0x1a4', 'hash', '0x' || repeat('ab', 32), 'parentHash', hotblocks.to_hex(head_hash),
			'timestamp', '0x7fffffff', 'transactions', json_build_array()))::text FROM hotblocks.status('eth'))))),
		qr/^420\|2$/, 'the chain goes on');
	is($new->safe_psql('chains', q(SELECT count(*) FROM eth.blocks)), '421', 'and is read');
	$new->safe_psql('chains', q(INSERT INTO mine.t VALUES (5000, 'sad', '{y}', 2); INSERT INTO mine.parent VALUES (7)));
	is($new->safe_psql('chains', q(SELECT count(*), max(n), sum(late) FROM mine.t)), '3002|5000|3.50', 'rows are added');
	is($new->safe_psql('chains', q(
		SELECT hotblocks.create_dataset('fresh', 'evm');
		SELECT count(*) FROM hotblocks.datasets)) =~ s/.*\n//sr, '3', 'datasets are made');
	$new->safe_psql('chains', q(SELECT hotblocks.drop_dataset('mine')));
	is($new->safe_psql('chains', q(SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text = 'hotblocks_mine')),
		'0', 'and dropped');
	is($new->safe_psql('empty', q(SELECT count(*) FROM hotblocks.datasets)), '0', 'a database without datasets');
	$new->stop;
}
done_testing();
