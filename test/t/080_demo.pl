# What make demo runs, runs without an error or a warning, and ends by
# EXPLAIN: on the sample chain, and on one without logs.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('demo');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

sub shows
{
	my ($db, $load) = @_;
	my ($out, $err);

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, "CREATE EXTENSION hotblocks; SELECT hotblocks.create_dataset('demo', 'evm'); $load");
	run_command_ok($db, \$out, \$err);
	is($err, '', "$db: no error and no warning");
	like($out, qr/all, as on disk/, "$db: sizes are shown");
	like($out, qr/Block Range: \d+\.\.\d+/, "$db: the range of blocks is pushed");
	like($out, qr/Bytes Skipped: \d+/, "$db: what was skipped is shown");
	return;
}

sub run_command_ok
{
	my ($db, $out, $err) = @_;

	ok(IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-f', 'tools/demo.sql' ],
			'>', $out, '2>', $err), "$db: demo.sql runs");
	return;
}

my $chain = HotblocksCluster::sample_chain();
shows('sample', "SELECT hotblocks.load_file('demo', '$chain')");
shows('bare', q(
	SELECT hotblocks.extend('demo', VARIADIC (SELECT array_agg(json_build_object('block', json_build_object(
			'number', '0x' || to_hex(g), 'hash', '0x' || lpad(to_hex(g), 64, 'a'), 'parentHash', '0x' || lpad(to_hex(g - 1), 64, 'a'),
			'timestamp', '0x' || to_hex(1000 + g), 'transactions', json_build_array(json_build_object(
				'hash', '0x' || lpad(to_hex(g), 64, 'b'), 'transactionIndex', '0x0', 'from', '0x' || repeat('11', 20),
				'to', '0x' || repeat('22', 20), 'value', '0x1', 'input', '0x', 'nonce', '0x' || to_hex(g), 'gas', '0x5208'))))::text ORDER BY g)
		FROM generate_series(1, 40) g))));

$node->stop;
done_testing();
