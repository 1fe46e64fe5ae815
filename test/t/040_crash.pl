# What was committed survives a crash of the server, what was not is gone.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = HotblocksCluster->new('crash');
$node->init;
$node->start;

my $chain = HotblocksCluster::sample_chain();
$node->safe_psql('postgres', qq(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('eth', 'evm');
	SELECT hotblocks.load_file('eth', '$chain');
	SELECT hotblocks.create_dataset('mine', 'free');
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, v text) SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.t SELECT g, repeat(md5(g::text), 20) FROM generate_series(1, 20000) g));

my $digest = q(
	SELECT count(*), md5(string_agg(l::text, ';' ORDER BY block_number, log_index)) FROM eth.logs l;
	SELECT head, version FROM hotblocks.status('eth');
	SELECT count(*), sum(n), md5(string_agg(v, '' ORDER BY n)) FROM mine.t);
my $before = $node->safe_psql('postgres', $digest);

# a transaction in progress, with rows stored, when the server goes
my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(180));
$in .= q(BEGIN;
	SET hotblocks.chunk_rows = 1000;
	INSERT INTO mine.t SELECT g, 'lost' FROM generate_series(100000, 105000) g;
	SELECT 'stored ' || count(*) FROM mine.t;
);
ok(pump_until($session, IPC::Run::timeout(180), \$out, qr/stored 25001/), 'a transaction has stored rows');
$node->stop('immediate');
$session->finish;

$node->start;
is($node->safe_psql('postgres', $digest), $before, 'after an immediate stop, what was committed is there and nothing else');

# and with the postmaster killed
$node->safe_psql('postgres', q(INSERT INTO mine.t VALUES (30000, 'kept')));
$before = $node->safe_psql('postgres', $digest);
$node->kill9;
# backends that still hold the shared memory leave soon
for my $attempt (1 .. 300)
{
	last if $node->start(fail_ok => 1);
	usleep(100_000);
	$node->stop('fast', fail_ok => 1);
}
is($node->safe_psql('postgres', $digest), $before, 'after a kill too');
is($node->safe_psql('postgres', q(INSERT INTO mine.t VALUES (30001, 'next'); SELECT count(*) FROM mine.t)), '20002', 'and work goes on');

$node->stop;
done_testing();
