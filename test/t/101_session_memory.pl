# A session keeps nothing of what it has done: the same work again and again
# leaves its memory contexts and its private memory as they were.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksMemory;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'RssAnon needs Linux' unless -r "/proc/$$/status";

my $node = HotblocksCluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nautovacuum = off");
$node->start;
$node->safe_psql('postgres', q(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('mem', 'free');
	CREATE FOREIGN TABLE mem.wide (n bigint, i int, t text, v bytea) SERVER mem
		OPTIONS (table 'wide', block_column 'n', sort_key 'n, i');
	CREATE FOREIGN TABLE mem.small (n bigint, t text) SERVER mem
		OPTIONS (table 'small', block_column 'n', sort_key 'n')));

my $session = HotblocksMemory->new('-d', $node->connstr('postgres'));
$session->run(q(INSERT INTO mem.wide SELECT i / 10, i % 10, 'text ' || i || repeat('x', i % 50),
	decode(repeat(md5(i::text), 64), 'hex') FROM generate_series(0, 49999) i));

sub contexts
{
	my ($bytes) = $session->run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts');

	return $bytes;
}

# flat(NAME, kB, STATEMENTS): the same once before, to fill caches; then neither
# the contexts nor the private memory grow by more than so many kB.  While it
# runs, what the query holds is bounded.
sub flat
{
	my ($name, $bound, $peak_bound, $sql) = @_;

	$session->run($sql);
	my $contexts = contexts();
	my $before = $session->now;
	my $peak = $session->peak($sql);
	my $grown = (contexts() - $contexts) / 1024;

	cmp_ok($grown, '<=', $bound, "$name: contexts as before (${\ int $grown} kB more)");
	cmp_ok($peak - $before, '<', $peak_bound, "$name: private memory as before (${\ ($peak - $before)} kB more)");
	return;
}

flat('scan of wide rows', 64, 4096, 'SELECT sum(length(v)), sum(length(t)) FROM mem.wide');
flat('ordered scan', 64, 4096, q(SELECT sum(length(v)) FROM (SELECT * FROM mem.wide ORDER BY n DESC, i DESC OFFSET 0) q));
flat('rescans with text', 64, 4096, q(
	SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
	SELECT sum(length(x.t)) FROM generate_series(0, 49999) g,
		LATERAL (SELECT t FROM mem.wide WHERE n = g / 10 AND i = g % 10 AND t > 'a') x));
flat('ANALYZE', 64, 80 * 1024, 'ANALYZE mem.wide');
flat('many narrow rows', 64, 48 * 1024, q(
	BEGIN; INSERT INTO mem.small SELECT i, 'n' || i % 1000 FROM generate_series(1, 300000) i; ROLLBACK));

# chunks of one row: what is kept of them is bounded by directory_cache_size
$session->run(q(SET hotblocks.directory_cache_size = '1MB'));
flat('transactions of a row', 256, 4096, q(
	DO $$ BEGIN FOR k IN 1..1000 LOOP INSERT INTO mem.small VALUES (k, 'x' || k); COMMIT; END LOOP; END $$));
flat('transactions that also read', 512, 8192, q(
	DO $$ BEGIN FOR k IN 1..300 LOOP
		INSERT INTO mem.small VALUES (5000 + k, 'x' || k);
		PERFORM count(t) FROM mem.small WHERE n > 5000;
		COMMIT;
	END LOOP; END $$));
flat('scan of many chunks', 64, 8192, 'SELECT count(t) FROM mem.small');
flat('errors', 64, 4096, q(
	DO $$ BEGIN FOR k IN 1..300 LOOP
		BEGIN
			INSERT INTO mem.small SELECT i, repeat('y', 500) FROM generate_series(1, 500) i;
			PERFORM 1 / count(*) - 1 / (count(*) - count(*)) FROM mem.small WHERE n = 1;
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END LOOP; END $$));

undef $session;
$node->stop;
done_testing();
