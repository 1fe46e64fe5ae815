# Hotblocks answers what a heap table with the same rows answers: see
# HotblocksDifferentialData for the rows, HotblocksQueries for what is asked.
#
# DIFFERENTIAL_SEED is a number or a range of them (1-50), each with tables and
# queries of its own; DIFFERENTIAL_QUERIES how many queries each asks.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksDifferential;
use HotblocksDifferentialData;
use Test::More;

my ($first, $last) = split /-/, $ENV{DIFFERENTIAL_SEED} // 7;
my $queries = $ENV{DIFFERENTIAL_QUERIES} // 2000;

my $node = HotblocksCluster->new('differential');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nlog_statement = none\nautovacuum = off\n");
$node->start;

foreach my $seed ($first .. $last // $first)
{
	my $db = "seed$seed";

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	my $keys = make_tables($node, $db, $seed);
	differential($node, $db, 'hot', 'heap', seed => $seed, queries => $queries, keys => $keys, name => "seed $seed");
	# both directions of the sort key, without a sort
	foreach my $table (grep { $keys->{$_}{key} && !/^(part|inh|seen|head|tx|item)$/ } sort keys %$keys)
	{
		my $down = join ', ', map { "$_ DESC" } split /, /, $keys->{$table}{key};
		is($node->safe_psql($db, qq{SELECT (SELECT md5(string_agg(r::text, chr(10))) FROM (SELECT * FROM hot.$table ORDER BY $keys->{$table}{key}) r)
				= (SELECT md5(string_agg(r, chr(10) ORDER BY k DESC)) FROM
					(SELECT r::text AS r, row_number() OVER () AS k FROM (SELECT * FROM hot.$table ORDER BY $down) r) r)}),
			't', "seed $seed, $table: descending is ascending backwards");
		unlike($node->safe_psql($db, "EXPLAIN SELECT * FROM hot.$table ORDER BY $down"), qr/Sort/, "seed $seed, $table: no Sort");
	}
	$node->safe_psql('postgres', "DROP DATABASE $db") if defined $last;
}

$node->stop;
done_testing();
