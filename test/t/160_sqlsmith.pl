# Whatever SQL comes, the server stays up and no error is an internal one:
# sqlsmith asks random queries of foreign tables of kind evm, of foreign tables
# with columns of many types, and of heap tables beside them.
#
# SQLSMITH_SEED and SQLSMITH_QUERIES say which and how many; SQLSMITH_REPORT names
# a file that gets a line "queries N faults N".  sqlsmith gives up a query after
# a second, so that cancelling is tested as well.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksDifferentialData;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{SQLSMITH_SEED} // 1;
my $queries = $ENV{SQLSMITH_QUERIES} // 300;

plan skip_all => 'sqlsmith is not installed'
  if system('command -v sqlsmith >/dev/null 2>&1') != 0;

my $node = HotblocksCluster->new('sqlsmith');
$node->init;
$node->append_conf('postgresql.conf', qq(
	fsync = off
	jit = off
	log_line_prefix = '%e '
	log_statement = none
	log_min_error_statement = error
	log_min_duration_statement = -1
	restart_after_crash = on
));
$node->start;
make_tables($node, 'postgres', $seed);

my $chain = HotblocksCluster::sample_chain();
$node->safe_psql('postgres', qq(
	SELECT hotblocks.create_dataset('eth', 'evm');
	SET hotblocks.chunk_rows = 400;
	SELECT hotblocks.load_file('eth', '$chain');
	CREATE TABLE heap.logs AS SELECT * FROM eth.logs LIMIT 300;
	CREATE TABLE heap.transactions AS SELECT * FROM eth.transactions LIMIT 300;
	ANALYZE;
	-- one that may do no harm to the server, to other sessions or to files
	CREATE ROLE smith LOGIN;
	GRANT USAGE ON SCHEMA heap, hot, rnd, eth, hotblocks TO smith;
	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA heap, hot, rnd, eth TO smith;
	REVOKE EXECUTE ON FUNCTION pg_terminate_backend, pg_cancel_backend, pg_sleep, pg_sleep_for, pg_sleep_until FROM PUBLIC;
));

my $target = 'host=' . $node->host . ' port=' . $node->port . ' dbname=postgres user=smith';
my $offset = -s $node->logfile;
my ($out, $err) = ('', '');
my $status = IPC::Run::run([ 'sqlsmith', "--target=$target", "--seed=$seed", "--max-queries=$queries", '--exclude-catalog', '--verbose' ],
	'>', \$out, '2>', \$err);
ok($status, "sqlsmith asks $queries queries") or diag substr($err, -2000);
unlike($err, qr/server closed the connection|could not connect|broken/i, 'no connection is lost');
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is up');

# An error of class XX is internal.  What core's own parser and functions raise
# of themselves, given nonsense, is not ours:
my @core = (
	qr/failed to find conversion function from unknown to text/,
	qr/invalid INTERVAL typmod: 0x/,
	qr/_transfn called in non-aggregate context/,
	# pg_opclass_is_visible and the like, given any number
	qr/cache lookup failed for operator class \d+/);
my $log = PostgreSQL::Test::Utils::slurp_file($node->logfile, $offset);
my @faults = $log =~ /^(XX\w{3} (?:ERROR|FATAL|PANIC):.*(?:\n(?!\w{5} (?:ERROR|LOG|FATAL)).*){0,40})/mg;
foreach my $known (@core)
{
	@faults = grep { !/^\w+ ERROR: .*$known/ } @faults;
}
push @faults, $log =~ /^(.*terminated by signal.*(?:\n.*){0,5})/mg;
is(scalar @faults, 0, 'no internal error') or diag join "\n", map { substr($_, 0, 4000) } @faults[ 0 .. ($#faults < 3 ? $#faults : 3) ];

my ($asked) = $err =~ /.*queries: (\d+)/s;
is($asked, $queries, 'all were asked');
note substr($err, rindex($err, 'queries: '), 3000);
if (my $file = $ENV{SQLSMITH_REPORT})
{
	open my $report, '>>', $file or die "could not write $file: $!";
	print $report "queries $asked faults " . @faults . "\n";
	close $report;
}
$node->stop;
done_testing();
