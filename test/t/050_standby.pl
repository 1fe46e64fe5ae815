# A physical standby answers the same queries, sees new blocks, and refuses to
# write.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = HotblocksCluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
my $chain = HotblocksCluster::sample_chain();
$primary->safe_psql('postgres', qq(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('eth', 'evm');
	SELECT hotblocks.load_file('eth', '$chain')));
$primary->backup('base');

my $standby = HotblocksCluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $query = q(
	SELECT count(*), md5(string_agg(l::text, ';' ORDER BY block_number, log_index)) FROM eth.logs l;
	SELECT count(*) FROM eth.transactions t JOIN eth.logs l USING (block_number, transaction_index) WHERE l.block_number BETWEEN 100 AND 200;
	SELECT head, rows FROM hotblocks.status('eth'));
is($standby->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query), 'a standby answers as its primary');

# a session of the standby that has read follows what comes
my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $standby->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(180));
$in .= "SELECT 'first ' || max(number) FROM eth.blocks;\n";
ok(pump_until($session, IPC::Run::timeout(180), \$out, qr/first 419/), 'a session of the standby reads');
$primary->safe_psql('postgres', q(
	SELECT head FROM hotblocks.extend('eth', (SELECT json_build_object('block', json_build_object(
		'number', '0x1a4', 'hash', '0x' || repeat('ab', 32), 'parentHash', hotblocks.to_hex(head_hash),
		'timestamp', '0x7fffffff', 'transactions', json_build_array()))::text FROM hotblocks.status('eth')))));
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$in .= "SELECT 'then ' || max(number) FROM eth.blocks;\n";
ok(pump_until($session, IPC::Run::timeout(180), \$out, qr/then 420/), 'and sees what comes');
$in .= "\\q\n";
$session->finish;

my ($status, $stdout, $stderr) = $standby->psql('postgres', q(INSERT INTO eth.blocks (number, hash) VALUES (421, '\x01')));
isnt($status, 0, 'a standby takes no rows');
like($stderr, qr/read-only|recovery/, 'and says why');
($status, $stdout, $stderr) = $standby->psql('postgres', q(SELECT hotblocks.extend('eth', '{}')));
like($stderr, qr/read-only|recovery/, 'nor blocks');

$standby->promote;
is($standby->safe_psql('postgres', q(SET hotblocks.missing_data = 'ignore'; INSERT INTO eth.blocks (number, hash) VALUES (421, '\x01'); SELECT count(*) FROM eth.blocks)),
	'422', 'promoted, it does');

$standby->stop;
$primary->stop;
done_testing();
