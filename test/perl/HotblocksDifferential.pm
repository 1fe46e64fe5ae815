# The same queries on hotblocks tables and on heap tables must give the same
# rows, whatever the settings are.
#
#   heap_copy($node, $db, 'eth', 'heap');      # heap.T for each eth.T, with a btree
#   differential($node, $db, 'eth', 'heap', seed => 1, queries => 200);
#
# HotblocksQueries makes the queries, from the columns of the tables that are in
# both schemas and from values that occur in them or lie at the ends of their
# types.  Each is run on the heap, and on hotblocks with settings that are drawn
# for it: hotblocks' switches, the planner's, parallel workers.  The same query
# comes with its constants written out, as a generic plan's parameters, as
# subqueries, as columns of an outer relation, and by way of a cursor.
#
# Rows are compared as text, by a sum of hashes, or where the order is certain by
# a hash of all; errors by SQLSTATE, and only where the heap has one too.
#
# DIFFERENTIAL_ONLY=N asks only the N-th query; DIFFERENTIAL_REPORT=FILE adds a
# line "queries N differences N errors N" to a file.
package HotblocksDifferential;

use strict;
use warnings;
use Exporter qw(import);
use HotblocksQueries;
use Test::More;

our @EXPORT = qw(heap_copy differential differential_setup);

sub quoted
{
	my ($name) = @_;

	return $name if $name =~ /^[a-z_][a-z_0-9]*$/ && $name !~ /^(from|to|timestamp|key|type|value|index|hash|end|user)$/;
	$name =~ s/"/""/g;
	return qq("$name");
}

# Tables, views and partitioned tables of the schema.
sub tables
{
	my ($node, $db, $schema) = @_;

	return split /\n/, $node->safe_psql(
		$db, qq(
		SELECT relname FROM pg_class
		WHERE relnamespace = '$schema'::regnamespace AND relkind IN ('f', 'p', 'v', 'r')
			AND NOT relispartition AND relname <> 'block_feed'
			AND oid NOT IN (SELECT inhrelid FROM pg_inherits)
		ORDER BY 1));
}

sub heap_copy
{
	my ($node, $db, $schema, $heap) = @_;
	my $sql = "CREATE SCHEMA $heap;\n";

	foreach my $table (tables($node, $db, $schema))
	{
		my $block = $table eq 'blocks' ? 'number' : 'block_number';
		$sql .= "CREATE TABLE $heap.$table AS SELECT * FROM $schema.$table;\n";
		$sql .= "CREATE INDEX ON $heap.$table ($block);\n";
	}
	$node->safe_psql($db, $sql . "ANALYZE;\n");
	return;
}

# What the runner calls: the rows of a query, through a cursor.
sub differential_setup
{
	my ($node, $db) = @_;

	$node->safe_psql(
		$db, q(
		CREATE SCHEMA IF NOT EXISTS differ;
		CREATE OR REPLACE FUNCTION differ.rows(query text) RETURNS SETOF text LANGUAGE plpgsql
		AS $$DECLARE r record; BEGIN FOR r IN EXECUTE query LOOP RETURN NEXT r::text; END LOOP; END$$));
	return;
}

#
# What is known of types.  Constants to compare with beside those that occur;
# and constants of other types, with which the type compares.
#
my $max256 = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
my @numeric_ends = ((map { "'$_'::numeric" } qw(0 1 -1 0.5 -0.5 1.0 1.00 1.5 NaN Infinity -Infinity
  9223372036854775807 9223372036854775808 9223372036854775806.5 -9223372036854775808 -9223372036854775809
  18446744073709551615 18446744073709551616 1e38 1e-20 1e100 -1e100
  -57896044618658097711785492504343953926634992332820282019728792003956564819968)), "'$max256'::numeric",
  "('$max256'::numeric + 1)", "('$max256'::numeric - 0.5)", "('$max256'::numeric - 1)", "(-'$max256'::numeric)");
my @integers = ("'-32768'::smallint", "32767::smallint", '40000::integer', "'3'::bigint", "'-2147483648'::integer", '2147483647',
	'3000000000', '9223372036854775807', "'-9223372036854775808'::bigint", '0::smallint');
my @strings = ("''::text", "'w5'::text", "'w1 '::text", "'a'::text", "'A'::text", "'0x'::text", "'\xc3\xa4'::text", "'0xAB'::text", "'~'::text");

my %types = (
	smallint => { ends => [ "'-32768'::smallint", '32767::smallint', '0::smallint' ], cross => [ @integers, '1.5', "'NaN'::float8" ] },
	integer => { ends => [ "'-2147483648'::integer", '2147483647', '0' ], cross => [ @integers, '0.5', '2147483648.0', "'Infinity'::float8" ] },
	bigint => { ends => [ '9223372036854775807', "'-9223372036854775808'::bigint", "'-9223372036854775807'::bigint", '0::bigint', '9223372036854775806' ],
		cross => [ @integers, '0.5', "'9223372036854775807.5'::numeric", "'9223372036854775808'::numeric", "'9.3e18'::float8", "'NaN'::numeric", "'NaN'::float8" ] },
	numeric => { ends => [@numeric_ends], cross => [ @integers, "'1e10'::float8", "'NaN'::float8" ], loose => 1, canon => 'trim_scale(?)' },
	real => { ends => [ "'NaN'::real", '0::real', "'-0'::real", "'-Infinity'::real", "'3.4e38'::real", "'1e-45'::real" ],
		cross => [ "'NaN'::float8", "'0.1'::float8", '1', '0.5::numeric' ], loose => 1, canon => '(? + 0)' },
	'double precision' => { ends => [ "'NaN'::float8", '0::float8', "'-0'::float8", "'-Infinity'::float8", "'1e308'::float8", "'5e-324'::float8" ],
		cross => [ "'0.1'::real", '1', '0.5::numeric', '9223372036854775807' ], loose => 1, canon => '(? + 0)' },
	bytea => { ends => [ map { "'\\x$_'::bytea" } '', '00', '0000', 'f0', '7f', '80', 'ff', '00' x 12, '00' x 12 . 'f0', '00' x 19, '00' x 20, '00' x 33, 'ff' x 20, 'ff' x 40, '01020304' ] },
	# (a name brings a collation of its own, which an error at run time may tell)
	text => { ends => [@strings], cross => [ "'w5'::varchar", "'w1 '::char(4)" ] },
	'character varying' => { ends => [ "''::varchar", "'f'::varchar", "'0'::varchar" ], cross => [@strings] },
	character => { ends => [ "''::bpchar", "'a'::bpchar", "'a  '::bpchar" ], cross => [ "'a'::text", "'a     '::text", "'a'::varchar" ] },
	name => { ends => [ "''::name", "'w5'::name" ], cross => [@strings] },
	boolean => { ends => [ 'true', 'false' ] },
	uuid => { ends => [ "'00000000-0000-0000-0000-000000000000'::uuid", "'80000000-0000-0000-0000-000000000000'::uuid", "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid" ] },
	date => { ends => [ "'infinity'::date", "'-infinity'::date", "'2025-01-01'::date", "'4713-01-01 BC'::date", "'5874897-12-31'::date" ],
		cross => [ "'2025-01-01 00:00Z'::timestamptz", "'2025-01-01 12:00'::timestamp", "'infinity'::timestamptz", "'-infinity'::timestamp", "'294276-12-31'::timestamp" ] },
	'timestamp without time zone' => { ends => [ "'infinity'::timestamp", "'-infinity'::timestamp", "'2023-11-15'::timestamp", "'294276-12-31 23:59:59.999999'::timestamp" ],
		cross => [ "'2023-11-15'::date", "'2023-11-15 00:00Z'::timestamptz", "'5874897-12-31'::date", "'infinity'::date" ] },
	'timestamp with time zone' => { ends => [ "'infinity'::timestamptz", "'-infinity'::timestamptz", "'2023-11-15 00:00Z'::timestamptz", "'1970-01-01Z'::timestamptz", "'4713-01-01 BC'::timestamptz" ],
		cross => [ "'2023-11-15'::date", "'2023-11-15 10:00'::timestamp", "'5874897-12-31'::date" ] },
	'time without time zone' => { ends => [ "'00:00'::time", "'24:00'::time", "'12:00:00.000001'::time" ] },
	interval => { ends => [ "'0'::interval", "'1 month'::interval", "'30 days'::interval", "'720:00'::interval", "'-1 year'::interval" ], loose => 1, canon => '' },
	'integer[]' => { ends => [ "'{}'::int4[]", 'ARRAY[1,2]', "ARRAY[1,NULL]::int4[]", "'[0:1]={1,2}'::int4[]", "'{{1,2},{3,4}}'::int4[]", 'ARRAY[-2147483648]', 'ARRAY[1]' ] },
	jsonb => { ends => [ "'{}'::jsonb", "'null'::jsonb", q('{"a": 1}'::jsonb) ] },
	inet => { ends => [ "'0.0.0.0'::inet", "'::'::inet", "'10.0.0.0/8'::inet" ], cross => [ "'10.0.0.0/8'::cidr" ] },
	money => { ends => [ "'0'::money", "'-5'::money" ] },
	oid => { ends => [ '0::oid', "'4294967295'::oid" ], cross => [ "'1255'::regclass", '5' ] },
	'"char"' => { ends => [ q('A'::"char"), q(''::"char") ] },
);
my $no_order = qr/^(json|xml|point|box|circle|line|lseg|path|polygon|xid|cid|aclitem)$/;
my $no_equality = qr/^(json|xml|point|box|circle|line|lseg|path|polygon)$/;

# The columns of a table, and literals of values that occur in them.
sub columns
{
	my ($node, $db, $heap, $table, $seed) = @_;
	my @columns;

	foreach my $line (
		split /\n/,
		$node->safe_psql(
			$db, qq(
			SELECT concat_ws('|', attname, format_type(atttypid, atttypmod), format_type(coalesce(b.oid, t.oid), NULL),
				coalesce(collname, ''), coalesce(collisdeterministic, true), t.typtype)
			FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
				LEFT JOIN pg_collation c ON c.oid = attcollation
			WHERE attrelid = '$heap.$table'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum)))
	{
		my ($name, $type, $base, $coll, $deterministic, $typtype) = split /\|/, $line;
		# constants may be longer than the column allows
		$type = $base =~ s/^character$/bpchar/r if $type =~ /^(numeric|character)/;
		my $known = $types{$base} // {};
		push @columns,
		  { name => quoted($name), type => $type, coll => $coll,
			eq => $base !~ $no_equality, ord => $base !~ $no_order,
			loose => $known->{loose} || $deterministic eq 'f' || $typtype eq 'd' && $base eq 'numeric',
			canon => $deterministic eq 'f' ? '' : $known->{canon} // '',
			ends => $typtype eq 'd' ? [] : $known->{ends} // [], cross => $typtype eq 'd' ? [ @{ $known->{ends} // [] } ] : $known->{cross} // [] };
	}
	my $sql = join ";\n", map {
		"SELECT string_agg(quote_literal(v), ' ' ORDER BY hashtextextended(v, $seed)) FROM (SELECT v FROM"
		  . " (SELECT DISTINCT $_->{name}::text AS v FROM $heap.$table) d WHERE length(v) < 300"
		  . " ORDER BY hashtextextended(v, $seed) LIMIT 12) e"
	} @columns;
	my @values = split /\n/, $node->safe_psql($db, $sql), -1;
	for my $i (0 .. $#columns)
	{
		my $c = $columns[$i];
		# three times what occurs for one of the ends
		my @occur = map { "$_\::$c->{type}" } ($values[$i] // '') =~ /(E?'(?:[^']|'')*')/g;
		my @ends = @{ $c->{ends} };
		push @ends, map { pick(@{ $c->{ends} }) } 1 .. @occur / 3 if @ends > @occur;
		$c->{values} = [ @occur, @ends ];
	}
	return @columns;
}

my %keys = (
	blocks => 'number',
	transactions => 'block_number, transaction_index',
	logs => 'block_number, log_index',
	traces => 'block_number, transaction_index, trace_address',
	state_diffs => 'block_number, transaction_index, address, key');

# All tables of both schemas that have rows.
sub describe
{
	my ($node, $db, $schema, $heap, %option) = @_;
	my @tables;
	my $keys = $option{keys} // {};

	foreach my $name (tables($node, $db, $schema))
	{
		my %t = (name => $name);
		my $key = $keys->{$name} // {};
		# (the views of kind evm are of logs)
		$t{key} = $keys->{$name} ? $key->{key} : $keys{$name} // $keys{logs};
		$t{unique} = $key->{unique} // join ', ', map { quoted($_) } split /, /, $t{key};
		($t{blocks}, $t{second}) = split /, /, $key->{head} // $t{key};
		$t{key} = join ', ', map { quoted($_) } split /, /, $t{key} if $t{key};
		(my $rows, $t{min}, $t{max}) = split /\|/,
		  $node->safe_psql($db, "SELECT count(*), min($t{blocks}), max($t{blocks}) FROM $heap.$name");
		next if $rows == 0;
		# where a few blocks lie far from the others
		$t{$_} = $key->{$_} // $t{$_} foreach qw(min max);
		$t{columns} = [ columns($node, $db, $heap, $name, $option{seed}) ];
		push @tables, \%t;
	}
	return @tables;
}

#
# Settings.
#
my @planner = (
	(map { "enable_$_ = off" } qw(hashjoin mergejoin nestloop material memoize sort hashagg incremental_sort)),
	(map { "enable_$_ = on" } qw(partitionwise_join partitionwise_aggregate)), 'work_mem = 64', 'cursor_tuple_fraction = 1',
	'from_collapse_limit = 1', 'join_collapse_limit = 1', 'random_page_cost = 100', 'cpu_tuple_cost = 3', 'enable_seqscan = off',
	'constraint_exclusion = on', 'hotblocks.directory_cache_size = 0');
my $parallel = 'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';

# A setting's statements, for one run of a query.
sub settings
{
	my ($switches, $version) = @_;
	my @set;

	return '' if chance(3) == 0;
	my $much = pick(0, 1, 2, 5, 5);
	foreach my $switch (@$switches)
	{
		push @set, "$switch = off" if $much == 5 || $much && chance($much + 1) == 0;
	}
	push @set, pick(@planner) for 1 .. chance(4);
	push @set, $parallel if chance(8) == 0;
	push @set, ($version < 16 ? 'force_parallel_mode' : 'debug_parallel_query') . ' = regress' if chance(24) == 0;
	push @set, 'jit = on; SET jit_above_cost = 0' if chance(100) == 0;
	return join ' \; ', map { map { "SET $_" } split /; SET /, $_ } @set;
}

# A query's text for one side.  how: literal, plan, subquery, lateral, cursor.
sub rendered
{
	my ($sql, $how, $side, $heap) = @_;
	my (@types, @literals);
	my $marker = qr/\x01([^\x02]*)\x02([^\x03]*)\x03/;

	$sql =~ s/SIDE\./$side./g;
	$sql =~ s/HEAP\./$heap./g;
	$sql =~ tr/\x05\x06/()/;
	if ($how eq 'plan' || $how eq 'lateral')
	{
		$sql =~ s/$marker/push @types, $1; push @literals, $2; $how eq 'plan' ? '$' . @types : 'p_.x' . @types/ge;
		$sql = "SELECT s_.* FROM (SELECT " . join(', ', map { "$literals[$_] AS x" . ($_ + 1) } 0 .. $#literals)
		  . " OFFSET 0) p_, LATERAL ($sql) s_" if $how eq 'lateral' && @literals;
	}
	elsif ($how eq 'subquery')
	{
		$sql =~ s/$marker/"(SELECT $2)::$1"/ge;
	}
	else
	{
		$sql =~ s/$marker/$2/g;
	}
	return ($sql, \@types, \@literals);
}

# The statements that print a query's number of rows and their hash.
sub asking
{
	my ($query, $side, $heap) = @_;
	my ($sql, $types, $literals) = rendered($query->{sql}, $query->{how}, $side, $heap);
	my $rows = $query->{how} eq 'cursor' ? 'differ.rows($differ$' . $sql . '$differ$) x' : "(SELECT r_::text AS x FROM ($sql) r_) x";
	# which of equal values comes first is for the executor to say, rows are not
	my $ask = $query->{ordered}
	  ? "SELECT count(*), md5(string_agg(x, chr(10) ORDER BY k)) FROM (SELECT x, row_number() OVER () AS k FROM $rows) y"
	  : "SELECT count(*), sum(hashtextextended(x, 0)::numeric) FROM $rows";

	return $ask if $query->{how} ne 'plan' || !@$types;
	return 'SET plan_cache_mode = force_generic_plan \; PREPARE q_(' . join(', ', @$types) . ") AS $ask \\; EXECUTE q_("
	  . join(', ', @$literals) . ') \; DEALLOCATE q_';
}

# Runs queries on both sides; fills in what each gave.
sub run
{
	my ($node, $db, $schema, $heap, @queries) = @_;
	my $script = "\\set ON_ERROR_STOP off\n";
	my ($out, $err) = ('', '');

	foreach my $i (0 .. $#queries)
	{
		my $q = $queries[$i];
		delete $q->{got};
		foreach my $side ($heap, $schema)
		{
			# DEALLOCATE is not reached after an error
			$script .= "\\echo \x04$i $side\n";
			$script .= "$q->{settings} ;\n" if $side ne $heap && $q->{settings} ne '';
			$script .= asking($q, $side, $heap) . ";\n\\echo \x04\x04 :SQLSTATE\n";
			$script .= "DEALLOCATE ALL \\; RESET ALL;\n";
		}
	}
	# as PostgreSQL::Test::Cluster's psql would have it, and quieter
	local $ENV{PGOPTIONS} = '-c client_min_messages=error -c statement_timeout=100s -c jit=off -c extra_float_digits=1';
	$node->psql($db, $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	my ($i, $side, $got);
	foreach my $line (split /\n/, $out)
	{
		if ($line =~ /^\x04(\d+) (\S+)$/) { ($i, $side, $got) = ($1, $2, ''); }
		elsif ($line =~ /^\x04\x04 (\S+)$/) { $queries[$i]{got}{$side} = $1 eq '00000' ? $got : "error $1"; }
		else { $got = $line; }
	}
	return $err;
}

sub agrees
{
	my ($q, $schema, $heap) = @_;
	my ($x, $y) = map { $q->{got}{$_} // 'no answer' } $heap, $schema;

	return $x eq $y && $x ne 'no answer';
}

# Leaves out conditions while the sides still differ.
sub reduced
{
	my ($node, $db, $schema, $heap, $query) = @_;
	my $again = 1;

	run($node, $db, $schema, $heap, $query);
	return $query if agrees($query, $schema, $heap);
	while ($again)
	{
		$again = 0;
		my $parts = () = $query->{sql} =~ /\x05/g;
		foreach my $p (1 .. $parts)
		{
			my $seen = 0;
			(my $sql = $query->{sql}) =~ s/\x05([^\x05\x06]*)\x06/++$seen == $p ? 'true' : "\x05$1\x06"/ge;
			my $less = { %$query, sql => $sql };
			next if $sql eq $query->{sql};
			run($node, $db, $schema, $heap, $less);
			next if agrees($less, $schema, $heap) || ($less->{got}{$schema} // '') =~ /^error/ && ($query->{got}{$schema} // '') !~ /^error/;
			($query, $again) = ($less, 1);
			last;
		}
	}
	return $query;
}

sub shown_query
{
	my ($q, $schema, $heap) = @_;

	return "query $q->{number}, $q->{how}" . ($q->{settings} ne '' ? ", with $q->{settings}" : '')
	  . "\n  heap:      " . ($q->{got}{$heap} // 'no answer') . "\n  hotblocks: " . ($q->{got}{$schema} // 'no answer')
	  . "\n  " . asking($q, $schema, $heap);
}

# Asks queries of the tables that both schemas have.
# seed, queries: as they say.  keys: for each table that is not of kind evm,
# {head => first columns of its sort key, key => those that order it, unique}.
# name: what the test is called.
sub differential
{
	my ($node, $db, $schema, $heap, %option) = @_;
	my $seed = $option{seed} // 1;
	my $n = $option{queries} // 100;
	my $name = $option{name} // $schema;

	differential_setup($node, $db);
	seed_queries($seed);
	my @tables = describe($node, $db, $schema, $heap, %option, seed => $seed);
	my @switches = split /\n/, $node->safe_psql($db, q(
		LOAD 'hotblocks';
		SELECT name FROM pg_settings WHERE name LIKE 'hotblocks.enable\_%' ORDER BY 1));
	my $version = int($node->safe_psql($db, 'SHOW server_version_num') / 10000);
	my @queries;

	# every table whole, first
	push @queries, { sql => "SELECT * FROM SIDE.$_->{name}", ordered => 0, how => 'literal', settings => '', number => scalar @queries } foreach @tables;
	while (@queries < $n)
	{
		my %q = random_query(\@tables, $tables[ @queries % @tables ]);
		$q{how} = pick(('literal') x 5, 'plan', 'plan', 'subquery', 'lateral', 'cursor');
		$q{settings} = settings(\@switches, $version);
		$q{number} = @queries;
		push @queries, \%q;
	}
	@queries = grep { $_->{number} == $ENV{DIFFERENTIAL_ONLY} } @queries if defined $ENV{DIFFERENTIAL_ONLY};

	my (@bad, %errors);
	my $messages = '';
	for (my $i = 0; $i < @queries; $i += 250)
	{
		my @some = @queries[ $i .. ($i + 249 < $#queries ? $i + 249 : $#queries) ];
		$messages .= run($node, $db, $schema, $heap, @some);
		push @bad, grep { !agrees($_, $schema, $heap) } @some;
		$errors{$_}++ foreach map { ($_->{got}{$heap} // '') =~ /^error (\S+)/ ? "$1" : () } @some;
	}
	my $errors = 0;
	$errors += $_ foreach values %errors;
	is(scalar @bad, 0, "$name: " . @queries . ' queries give the rows of the heap')
	  or diag join "\n", "seed $seed", (map { shown_query(reduced($node, $db, $schema, $heap, $_), $schema, $heap) } @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ]),
	  substr($messages, 0, 3000);
	# a generator that makes nonsense tests nothing
	cmp_ok($errors, '<=', @queries / 50, "$name: few of them fail")
	  or diag join(', ', map { "$_: $errors{$_}" } sort keys %errors) . "\n" . substr($messages, 0, 3000);
	if (my $file = $ENV{DIFFERENTIAL_REPORT})
	{
		open my $report, '>>', $file or die "could not write $file: $!";
		print $report 'queries ' . @queries . ' differences ' . @bad . " errors $errors\n";
		close $report;
	}
	return;
}

1;
