# Every Ethereum file of TEST_DATA loads; what went in comes back field by
# field; and queries agree with a heap copy.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksDifferential;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = $ENV{TEST_DATA} or BAIL_OUT('TEST_DATA names no folder');

# dataset, linkage, files of one chain in order of their first block
my @chains = (
	[ 'hive', 'strict', 'evm-hivechain-heavy', 'evm-hivechain' ],
	[ 'sepolia', 'strict', 'evm-sepolia-era1' ],
	[ 'mainnet', 'links', 'evm-mainnet' ],
	[ 'merge', 'strict', 'evm-mainnet-15537394' ],
	[ 'erigon', 'none', 'evm-erigon-traces' ]);

my $node = HotblocksCluster->new('real');
$node->init;
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{PGDATABASE} = 'postgres';

my %known;
foreach my $chain (@chains)
{
	my ($dataset, $linkage, @names) = @$chain;
	my @files = map { "$data/$_.ndjson.gz" } @names;
	my $seed = length $dataset;

	$known{$_} = 1 foreach @files;
	SKIP:
	{
		skip "$names[0] is not in TEST_DATA", 1 if grep { !-f } @files;
		my ($status, $out, $err) = $node->psql('postgres', join "\n",
			"SELECT hotblocks.create_dataset('$dataset', 'evm', linkage => '$linkage');",
			map { "SELECT hotblocks.load_file('$dataset', '$_');" } @files);
		is($status, 0, "$dataset loads with linkage $linkage") or do { diag $err; last SKIP; };
		command_ok([ 'perl', 'test/compare_blocks.pl', $dataset, @files ],
			"every field of $dataset is as in its files");
		# ranges that were not delivered are told of elsewhere
		$node->safe_psql('postgres', "ALTER DATABASE postgres SET hotblocks.missing_data = 'ignore'");
		heap_copy($node, 'postgres', $dataset, "heap_$dataset");
		differential($node, 'postgres', $dataset, "heap_$dataset", seed => $seed, queries => 80);
		$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET hotblocks.missing_data');
	}
}

# a file that nobody told this test of
my @new = grep { !$known{$_} } glob "$data/evm-*.ndjson.gz";
is("@new", '', 'every Ethereum file of TEST_DATA is known');

$node->stop;
done_testing();
