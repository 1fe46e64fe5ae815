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

undef $session;
$node->stop;
done_testing();
