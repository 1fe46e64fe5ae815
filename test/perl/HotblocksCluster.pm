# PostgreSQL::Test::Cluster with hotblocks at hand: nodes find the build that
# test/run installed under HOTBLOCKS_INST, and preload the library.
#
#   my $node = HotblocksCluster->new('main');
#   $node->init;                  # or init(preload => 0), and core's parameters
#   $node->start;
#   $node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');
#
# Without HOTBLOCKS_INST (make installcheck) nodes use the installed extension.
package HotblocksCluster;

use strict;
use warnings;
use parent 'PostgreSQL::Test::Cluster';

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

sub init
{
	my ($self, %params) = @_;
	my $preload = delete $params{preload} // 1;
	my $inst = $ENV{HOTBLOCKS_INST};

	$params{extra} = [ '--encoding=UTF8', '--locale=C.UTF-8', @{ $params{extra} // [] } ];
	$self->SUPER::init(%params);
	if ($inst)
	{
		my $cluster = abs_path(dirname(__FILE__)) . '/../cluster';
		my $paths = `'$cluster' paths '$inst'`;
		die "could not get the server's paths" if $? != 0;
		$self->append_conf('postgresql.conf', $paths);
	}
	$self->append_conf('postgresql.conf', "shared_preload_libraries = 'hotblocks'")
	  if $preload;
	return;
}

# The committed sample chain, where the server can read it.
sub sample_chain
{
	my ($name) = @_;
	my $dir = $ENV{SAMPLE_DATA} // abs_path(dirname(__FILE__) . '/../data');

	return "$dir/" . ($name // 'sample-evm.ndjson.gz');
}

# SQL of a superuser that begins a database of role keeper, who is none: the
# sample chain in dataset eth, and mine of kind free, with a type.  The session
# goes on as keeper.
sub keepers_datasets
{
	my $chain = sample_chain();

	return qq(
	CREATE EXTENSION hotblocks;
	GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO keeper;
	GRANT pg_read_server_files TO keeper;
	SET SESSION AUTHORIZATION keeper;
	SELECT hotblocks.create_dataset('eth', 'evm');
	SELECT hotblocks.load_file('eth', '$chain');
	SELECT hotblocks.create_dataset('mine', 'free');
	CREATE TYPE mine.mood AS ENUM ('sad', 'glad');
);
}

1;
