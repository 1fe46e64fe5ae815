# Every setting, function, view and SQLSTATE of the extension is named in
# docs/dba.md or docs/user.md, and the versions in the files agree.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('docs');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');

my $docs = slurp_file('docs/dba.md') . slurp_file('docs/user.md');

sub all_named
{
	my ($what, $sql) = @_;
	my @names = split /\n/, $node->safe_psql('postgres', $sql);
	my @missing = grep { $docs !~ /\b\Q$_\E\b/ } @names;

	cmp_ok(scalar @names, '>', 0, "there are ${what}s");
	is("@missing", '', "every $what is documented");
	return;
}

all_named('setting', q{SELECT name FROM pg_settings WHERE name LIKE 'hotblocks.%'});
# triggers' and the wrapper's own functions are called by nobody
all_named('function', q{
	SELECT DISTINCT proname FROM pg_proc
	WHERE pronamespace = 'hotblocks'::regnamespace
		AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'fdw_handler'::regtype)
		AND proname NOT LIKE '%\_validator'});
all_named('view or table', q{
	SELECT relname FROM pg_class
	WHERE relnamespace = 'hotblocks'::regnamespace AND relkind IN ('r', 'v')});

my $version = $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'hotblocks'});
like(slurp_file('META.json'), qr/"version": "\Q$version\E"/, 'META.json is of the control file\'s version');
like(slurp_file('CHANGELOG.md'), qr/^## \Q$version\E /m, 'CHANGELOG.md has the control file\'s version');

my %codes = map { $_ => 1 } map { /MAKE_SQLSTATE\(([^)]*)\)/ ? join('', $1 =~ /'(.)'/g) : () }
  map { split /\n/, slurp_file($_) } glob 'src/*.h src/*/*.h src/*/*.c';
my @missing = grep { $docs !~ /\b$_\b/ } sort keys %codes;
is("@missing", '', 'every SQLSTATE of our own is documented');

$node->stop;
done_testing();
