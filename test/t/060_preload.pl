# Without shared_preload_libraries everything works in the backend, and a
# library of another version than the SQL objects refuses to.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('bare');
$node->init(preload => 0);
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

my $chain = HotblocksCluster::sample_chain();
$node->safe_psql('postgres', qq(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('eth', 'evm');
	SELECT hotblocks.load_file('eth', '$chain')));
is($node->safe_psql('postgres', q(SELECT count(*) FROM eth.logs WHERE topic0 = hotblocks.topic0('Transfer(address,address,uint256)'))),
	$node->safe_psql('postgres', q(SELECT count(*) FROM eth.logs WHERE encode(topic0, 'hex') = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')),
	'a session that loads the library itself reads');
# the first thing that a session does
is($node->safe_psql('postgres', q(SELECT max(number) FROM eth.blocks)), '419', 'through a foreign table first');
is($node->safe_psql('postgres', q(SELECT hotblocks.to_hex('\x01'))), '0x01', 'or through a function first');

$node->safe_psql('postgres', q(UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'hotblocks'));
my ($status, $stdout, $stderr) = $node->psql('postgres', 'SELECT count(*) FROM eth.blocks');
isnt($status, 0, 'SQL objects of another version are refused');
like($stderr, qr/version/, 'with an error that says so');
like($stderr, qr/ALTER EXTENSION/, 'and what to do');

$node->stop;
done_testing();
