# The committed sample chain loads; what went in comes back field by field; and
# queries on it agree with a heap copy, with one chunk a table and with many.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksDifferential;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('sample');
$node->init;
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');

sub compare
{
	my ($dataset, @files) = @_;

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'postgres';
	command_ok([ 'perl', 'test/compare_blocks.pl', $dataset, @files ],
		"every field of $dataset is as in its files");
	return;
}

my $chain = HotblocksCluster::sample_chain();
$node->safe_psql('postgres', qq(
	SELECT hotblocks.create_dataset('eth', 'evm');
	SELECT hotblocks.load_file('eth', '$chain')));
is($node->safe_psql('postgres', 'SELECT count(*), min(number), max(number) FROM eth.blocks'),
	'420|0|419', 'all blocks are there');
is($node->safe_psql('postgres', 'SELECT count(*) FROM eth.transactions'), '1474', 'all transactions');
is($node->safe_psql('postgres', 'SELECT count(*) FROM eth.logs'), '1611', 'all logs');
is($node->safe_psql('postgres', 'SELECT count(*) FROM eth.traces'), '2759', 'all traces');
compare('eth', $chain);
heap_copy($node, 'postgres', 'eth', 'heap');
differential($node, 'postgres', 'eth', 'heap', seed => 11, queries => 150);

# the other trace format, of the same chain's beginning
my $call_tracer = HotblocksCluster::sample_chain('sample-evm-calltracer.ndjson.gz');
$node->safe_psql('postgres', qq(
	SELECT hotblocks.create_dataset('ct', 'evm');
	SELECT hotblocks.load_file('ct', '$call_tracer')));
compare('ct', $call_tracer);
# (the client gives no address for a failed creation and no value for a static
# call in one of them)
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM eth.traces e FULL JOIN ct.traces c USING (block_number, transaction_index, trace_address)
	WHERE block_number < 120 AND e.error IS NULL AND e.call_type IS DISTINCT FROM 'staticcall' AND (e.type, e."from", e."to", e.value, e.input, e.subtraces)
		IS DISTINCT FROM (c.type, c."from", c."to", c.value, c.input, c.subtraces))),
	'0', 'both trace formats tell of the same calls');

# many chunks, and blocks of two of them overlapping nowhere
$node->safe_psql('postgres', qq(
	SET hotblocks.chunk_rows = 1100;
	SELECT hotblocks.create_dataset('many', 'evm');
	SELECT hotblocks.load_file('many', '$chain')));
cmp_ok($node->safe_psql('postgres', q(SELECT count(*) FROM hotblocks.chunks WHERE dataset = 'many' AND table_name = 'traces')),
	'>', 2, 'hotblocks.chunk_rows makes smaller chunks');
differential($node, 'postgres', 'many', 'heap', seed => 12, queries => 100);

$node->stop;
done_testing();
