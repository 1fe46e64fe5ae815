# Statements end soon when they are cancelled, time out or lose their client or
# their backend, in whatever phase, and leave nothing behind.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $bound = 5;    # seconds, for machines that are busy; bench/table_cancel measures

my $node = HotblocksCluster->new('cancel');
$node->init;
$node->append_conf('postgresql.conf', q(
fsync = off
jit = off
autovacuum = off
client_connection_check_interval = 100ms
));
$node->start;

$node->safe_psql('postgres', q(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('mine', 'free');
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, i integer, h bytea, v numeric, s text)
		SERVER mine OPTIONS (block_column 'n', sort_key 'n,i');
	CREATE FOREIGN TABLE mine.runs (n bigint NOT NULL, s text) SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.t SELECT g / 100, g % 100, sha256(int8send(g)), g * 1234567::numeric, md5(g::text)
		FROM generate_series(1, 150000) g;
	SET hotblocks.chunk_rows = 500;
	INSERT INTO mine.runs SELECT (g * 7919::bigint) % 100003, md5(g::text) FROM generate_series(1, 50000) g;
	SELECT hotblocks.create_dataset('chain', 'evm');
	CREATE TABLE document (d text);
	INSERT INTO document SELECT json_build_object('block', json_build_object('number', '0x1',
		'hash', '0x' || repeat('ab', 32), 'parentHash', '0x' || repeat('aa', 32), 'timestamp', '0x1',
		'transactions', (SELECT json_agg(json_build_object('hash', '0x' || encode(sha256(int8send(g)), 'hex'),
			'transactionIndex', '0x' || to_hex(g), 'from', '0x' || repeat('01', 20), 'input', '0x' || repeat('ab', 200))
			ORDER BY g) FROM generate_series(0, 30000) g)))::text));
my $document = PostgreSQL::Test::Utils::tempdir . '/document.ndjson';
open(my $file, '>', $document) or die $!;
print $file $node->safe_psql('postgres', 'SELECT d FROM document'), "\n";
close $file;
my $rows = "$document.rows";
$node->safe_psql('postgres', "COPY (SELECT g, 'value' FROM generate_series(100000, 900000) g) TO '$rows'");

my $state = q(
	SELECT count(*), sum(n), sum(v) FROM mine.t;
	SELECT count(*), sum(n) FROM mine.runs;
	SELECT dataset, count(*), sum(rows) FROM hotblocks.chunks GROUP BY 1 ORDER BY 1;
	SELECT (hotblocks.status(name)).* FROM hotblocks.datasets ORDER BY 1;
	SELECT count(*) FROM hotblocks.transitions);
my $before = $node->safe_psql('postgres', $state);

my @phases = (
	[ 'plan', "SELECT count(*) FROM mine.runs a JOIN mine.runs b USING (n) JOIN mine.t c USING (n) WHERE a.n = ANY ('{"
		. join(',', 1 .. 20000) . "}')" ],
	[ 'filter', q(SELECT count(*) FROM mine.t a, generate_series(1, 50) g WHERE a.v > g AND a.s > 'a' AND a.h <> '\x00') ],
	[ 'local filter', q(SELECT count(*) FROM mine.t a, generate_series(1, 50) g WHERE a.s LIKE '%0123456789%' || g) ],
	[ 'merge', q(SELECT count(*) FROM (SELECT * FROM mine.runs ORDER BY n OFFSET 0) o, generate_series(1, 20)) ],
	[ 'lookups', q(SELECT count(*) FROM mine.t a JOIN LATERAL (SELECT * FROM mine.t b WHERE b.n = a.n AND b.i = a.i OFFSET 0) b ON true) ],
	[ 'insert', q(INSERT INTO mine.t SELECT n + 10000, i, h, v, s FROM mine.t) ],
	[ 'insert unsorted', q(INSERT INTO mine.t SELECT (g * 7919::bigint) % 1000003, g FROM generate_series(1, 500000) g) ],
	[ 'copy', "COPY mine.t (n, s) FROM '$rows'" ],
	[ 'truncate', q(BEGIN; TRUNCATE mine.runs; SELECT pg_sleep(10); COMMIT) ],
	[ 'analyze', q(DO $$ BEGIN FOR i IN 1 .. 50 LOOP ANALYZE mine.t; END LOOP; END $$) ],
	[ 'extend', q(SELECT head FROM hotblocks.extend('chain', (SELECT d FROM document))) ],
	[ 'load_file', "SELECT head FROM hotblocks.load_file('chain', '$document')" ],
	[ 'create_dataset', q(DO $$ BEGIN FOR i IN 1 .. 50 LOOP PERFORM hotblocks.create_dataset('d' || i, 'evm'); END LOOP; END $$) ],
);


sub activity
{
	my ($name) = @_;

	return $node->safe_psql('postgres',
		"SELECT coalesce((SELECT pid FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active'), 0)");
}

# by timeout, at several moments of each phase
my $slowest = 0;
my %timed_out;
for my $phase (@phases)
{
	my ($name, $sql) = @$phase;

	for my $timeout (5, 50, 150)
	{
		local $ENV{PGOPTIONS} = "-c statement_timeout=$timeout";
		my $began = time;
		my ($out, $err) = run_command(
			[ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-c', $sql ]);
		my $late = time - $began - $timeout / 1000;

		next unless $err =~ /canceling statement due to statement timeout/;
		$timed_out{$name}++;
		$slowest = $late if $late > $slowest;
	}
}
is(join(', ', grep { !$timed_out{$_} } map { $_->[0] } @phases), '', 'every phase was interrupted');
cmp_ok($slowest, '<', $bound, 'what times out ends soon');
is($node->safe_psql('postgres', $state), $before, 'and leaves nothing behind');

# by others: each way in turn
my @ways = ('pg_cancel_backend', 'pg_terminate_backend', 'client');
my $late = 0;
for my $i (0 .. $#phases)
{
	my ($name, $sql) = @{ $phases[$i] };
	my $way = $ways[ $i % @ways ];
	my ($in, $out, $err) = ('', '', '');
	my $pid;
	my $began;
	my $session = IPC::Run::start(
		[ 'psql', '-X', '-q', '-d', $node->connstr('postgres') . " application_name=victim$i", '-c', $sql ],
		'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(180));

	# it may be over before we look: then it has not been stopped, which is
	# no failure of this test
	for (1 .. 500)
	{
		$session->pump_nb;
		last if ($pid = activity("victim$i")) || !$session->pumpable;
		usleep(2000);
	}
	$began = time;
	if ($way eq 'client')
	{
		$session->kill_kill;
	}
	else
	{
		$node->safe_psql('postgres', "SELECT $way(pid) FROM pg_stat_activity WHERE application_name = 'victim$i'");
		eval { $session->finish };
	}
	$node->poll_query_until('postgres',
		"SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'victim$i')");
	$late = time - $began if time - $began > $late;
}
cmp_ok($late, '<', 2 * $bound, 'what is cancelled, terminated or left by its client ends soon');
is($node->safe_psql('postgres', $state), $before, 'and leaves nothing behind');

# the backend that was cancelled goes on, with nothing in a wrong state
my $script = join('', map { "SET statement_timeout = 40;\n$_->[1];\nROLLBACK;\nRESET statement_timeout;\n" } @phases);
my ($out, $err) = ('', '');
$node->psql('postgres', "$script$state", stdout => \$out, stderr => \$err, on_error_stop => 0);
like($out, qr/\Q$before\E\z/, 'a session goes on after its statements were cancelled');
# and one that catches it in a subtransaction writes and commits the rest
is($node->safe_psql('postgres', q(
	SET statement_timeout = 300;
	DO $$ BEGIN
		INSERT INTO mine.runs VALUES (-1, 'kept');
		BEGIN
			INSERT INTO mine.runs SELECT g, 'lost' FROM generate_series(1, 10000000) g;
		EXCEPTION WHEN query_canceled THEN
			INSERT INTO mine.runs VALUES (-2, 'kept');
		END;
	END $$;
	RESET statement_timeout;
	SELECT n, s FROM mine.runs WHERE n < 0 OR s = 'lost' ORDER BY n)), "-2|kept\n-1|kept",
	'a subtransaction that is cancelled takes its rows with it');

is(join("\n", grep { /leak|PANIC|terminated by signal|still referenced|XX000/ } split /\n/, slurp_file($node->logfile)),
	'', 'the log knows of no leak and no crash');
$node->stop;
done_testing();
