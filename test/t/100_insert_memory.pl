# What a backend holds while it stores rows does not depend on how many there
# are: INSERT ... SELECT, one column and several, COPY, and partitions.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksMemory;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'RssAnon needs Linux' unless -r "/proc/$$/status";

my $rows = 40_000;				# of 2 KiB; bench/table_memory has 250,000
my $bound = 64 * 1024;			# kB
my $query = HotblocksMemory::wide_rows($rows);

my $node = HotblocksCluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "max_wal_size = 2GB\nfsync = off");
$node->start;
my $file = $node->basedir . '/wide.csv';
$node->safe_psql('postgres', q(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('mem', 'free');
	CREATE FOREIGN TABLE mem.one (n bigint, v bytea) SERVER mem
		OPTIONS (table 'one', block_column 'n', sort_key 'n');
	CREATE FOREIGN TABLE mem.four (n bigint, a bytea, b text, c bytea, d int) SERVER mem
		OPTIONS (table 'four', block_column 'n', sort_key 'n');
	CREATE FOREIGN TABLE mem.unsorted (n bigint, v bytea) SERVER mem
		OPTIONS (table 'unsorted', block_column 'n', sort_key 'n');
	CREATE FOREIGN TABLE mem.copied (n bigint, v bytea) SERVER mem
		OPTIONS (table 'copied', block_column 'n', sort_key 'n')));

my $session = HotblocksMemory->new('-d', $node->connstr('postgres'));
$session->run(HotblocksMemory::wide_rows_setup());

# growth(NAME, STATEMENT with %s for the query).  The statement for a few rows of
# the same query comes first: what the query and JIT take is not ours.
sub growth
{
	my ($name, $statement) = @_;

	$session->run(sprintf($statement, "$query WHERE i <= 100"));
	my $before = $session->now;
	my $peak = $session->peak(sprintf($statement, $query));

	cmp_ok($peak - $before, '<', $bound, sprintf('%s: grew by %.1f MB', $name, ($peak - $before) / 1024));
	return;
}

growth('one column', 'INSERT INTO mem.one %s');
growth('several columns', q(INSERT INTO mem.four
	SELECT i, substr(v, 1, 700), encode(substr(v, 701, 350), 'hex'), substr(v, 1051, 648), i
	FROM (%s) q (i, v)));
growth('rows out of order', q(INSERT INTO mem.unsorted SELECT i * 7919 %% 100003, v FROM (%s) q (i, v)));
is($node->safe_psql('postgres', "SELECT count(*), count(DISTINCT n), sum(octet_length(v)) FROM mem.unsorted"),
	join('|', $rows + 100, $rows, ($rows + 100) * 2048), 'all rows out of order are there');

# COPY, from a file that the server writes
$session->run("COPY ($query WHERE i <= 100) TO '$file' (FORMAT csv)");
$session->run("COPY mem.copied FROM '$file' (FORMAT csv)");
my $before = $session->now;
$session->run("COPY ($query) TO '$file' (FORMAT csv)");
my $peak = $session->peak("COPY mem.copied FROM '$file' (FORMAT csv)");
cmp_ok($peak - $before, '<', $bound, sprintf('COPY: grew by %.1f MB', ($peak - $before) / 1024));
unlink $file;

is($node->safe_psql('postgres', q(
	SELECT count(*) FROM (TABLE mem.one EXCEPT ALL TABLE mem.copied) d)), '0', 'both ways store the same rows');

# a hundred partitions in no order: the memory is for all of them
$session->run(q(
	CREATE TABLE mem_parts (n bigint, v bytea) PARTITION BY HASH (n);
	DO $$
	BEGIN
		FOR i IN 0..99 LOOP
			EXECUTE format('CREATE FOREIGN TABLE mem.part_%1$s PARTITION OF mem_parts
				FOR VALUES WITH (MODULUS 100, REMAINDER %1$s) SERVER mem
				OPTIONS (table %2$L, block_column %3$L, sort_key %3$L)', i, 'part_' || i, 'n');
		END LOOP;
	END $$));
growth('partitions', 'INSERT INTO mem_parts %s');
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM (TABLE mem.one EXCEPT ALL TABLE mem_parts) d)), '0', 'and partitions have them too');

# a statement in a statement has some of it, and is rolled back alone
$session->run(q(
	SET hotblocks.build_memory = '4MB';
	CREATE FOREIGN TABLE mem.outer_rows (n bigint, v bytea) SERVER mem
		OPTIONS (table 'outer_rows', block_column 'n', sort_key 'n');
	CREATE FOREIGN TABLE mem.inner_rows (n bigint, v bytea) SERVER mem
		OPTIONS (table 'inner_rows', block_column 'n', sort_key 'n');
	CREATE FUNCTION inner_insert(i bigint, v bytea) RETURNS bytea LANGUAGE plpgsql AS $$
	BEGIN
		IF i % 500 = 0 THEN
			BEGIN
				INSERT INTO mem.inner_rows SELECT i, v FROM generate_series(1, 5000);
				IF i % 1000 = 0 THEN
					RAISE EXCEPTION 'not this one';
				END IF;
			EXCEPTION WHEN raise_exception THEN
				NULL;
			END;
		END IF;
		RETURN v;
	END $$));
$session->run("INSERT INTO mem.outer_rows SELECT i, inner_insert(i, v) FROM (" .
	HotblocksMemory::wide_rows(5000) . ') q (i, v)');
is($node->safe_psql('postgres', q(SELECT count(*), count(DISTINCT n), sum(n) FROM mem.outer_rows)),
	'5000|5000|12502500', 'rows of a statement stay when one within it is rolled back');
is($node->safe_psql('postgres', q(SELECT count(*), string_agg(DISTINCT n::text, ',' ORDER BY n::text) FROM mem.inner_rows)),
	'25000|1500,2500,3500,4500,500', 'and so do those of the ones that are not');

undef $session;
$node->stop;
done_testing();
