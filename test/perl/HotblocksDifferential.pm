# The same queries on hotblocks tables and on a heap copy must give the same
# rows.
#
#   heap_copy($node, $db, 'eth', 'heap');      # heap.T for each eth.T, with a btree
#   differential($node, $db, 'eth', 'heap', seed => 1, queries => 200);
#
# Queries are made from the tables' columns and from values that occur in them,
# by a fixed sequence of pseudo-random choices: filters of every operator, in
# AND and OR, with block ranges, projections, both orders with LIMIT, generic
# plans, parameters of nested loops, joins and aggregates.  One TAP test per
# table, and one for the joins; queries that differ are shown.
package HotblocksDifferential;

use strict;
use warnings;
use Exporter qw(import);
use Test::More;

our @EXPORT = qw(heap_copy differential);

# A generator of our own: perl's differs between versions.
my $state = 1;

sub chance
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return int($state / 65536) % $n;
}

sub pick { return $_[ chance(scalar @_) ]; }

sub quoted
{
	my ($name) = @_;

	$name =~ s/"/""/g;
	return qq("$name");
}

sub tables
{
	my ($node, $db, $schema) = @_;

	return split /\n/, $node->safe_psql(
		$db, qq(
		SELECT foreign_table_name FROM information_schema.foreign_tables
		WHERE foreign_table_schema = '$schema' AND foreign_table_name <> 'block_feed'
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

# Columns of a table: name, type, and literals of values that occur in it.
sub describe
{
	my ($node, $db, $heap, $table) = @_;
	my @columns;

	foreach my $line (
		split /\n/,
		$node->safe_psql(
			$db, qq(
			SELECT attname || '|' || format_type(atttypid, atttypmod) FROM pg_attribute
			WHERE attrelid = '$heap.$table'::regclass AND attnum > 0 ORDER BY attnum)))
	{
		my ($name, $type) = split /\|/, $line;
		push @columns, { name => quoted($name), type => $type };
	}
	# at most twelve values: the ends, and some from the middle
	my $sql = join ";\n", map {
		qq(WITH v AS (SELECT DISTINCT $_->{name} AS v FROM $heap.$table
				WHERE $_->{name} IS NOT NULL AND length($_->{name}::text) < 300),
			n AS (SELECT v, row_number() OVER (ORDER BY v) AS i, count(*) OVER () AS n FROM v)
			SELECT string_agg(quote_literal(v::text), ' ' ORDER BY i) FROM n
			WHERE i = 1 OR i = n OR i % greatest(n / 10, 1) = 0)
	} @columns;
	my @values = split /\n/, $node->safe_psql($db, $sql), -1;
	for my $i (0 .. $#columns)
	{
		my $text = $values[$i] // '';
		$columns[$i]{values} =
		  [ map { "$_\::$columns[$i]{type}" } $text =~ /(E?'(?:[^']|'')*')/g ];
	}
	return @columns;
}

# A condition on one column, over values that occur, almost occur, or do not.
sub condition
{
	my ($c) = @_;
	my @v = @{ $c->{values} };
	my $n = $c->{name};

	return pick("$n IS NULL", "$n IS NOT NULL") if !@v || chance(9) == 0;
	my ($a, $b, $d) = (pick(@v), pick(@v), pick(@v));
	return "$n = $a" if chance(3) == 0;
	return "$n IN ($a, $b, $d)" if chance(4) == 0;
	return "$n = ANY (ARRAY[$a, NULL, $b])" if $c->{type} !~ /\[\]$/ && chance(12) == 0;
	return "$n NOT IN ($a, $b)" if chance(12) == 0;
	return "$n BETWEEN least($a, $b) AND greatest($a, $b)" if chance(5) == 0;
	return "octet_length($n) " . pick('<', '=', '>') . " octet_length($a)"
	  if $c->{type} eq 'bytea' && chance(4) == 0;
	return "substr($n, 1, 4) = substr($a, 1, 4)"
	  if $c->{type} eq 'bytea' && chance(4) == 0;
	return "$n IS DISTINCT FROM $a" if chance(10) == 0;
	return "NOT ($n " . pick('<', '=') . " $a)" if chance(10) == 0;
	return "$n " . pick('<', '<=', '>', '>=', '<>') . " $a";
}

sub block_range
{
	my ($c) = @_;
	my @v = @{ $c->{values} };
	my ($a, $b) = (pick(@v), pick(@v));

	return pick("$c->{name} = $a",
		"$c->{name} >= $a",
		"$c->{name} BETWEEN least($a, $b) AND greatest($a, $b)",
		"$c->{name} > $a AND $c->{name} < $a + 20");
}

sub where
{
	my (@columns) = @_;
	my @parts;

	push @parts, block_range($columns[0]) if chance(2);
	push @parts, condition(pick(@columns)) for 1 .. 1 + chance(2);
	push @parts, '(' . condition(pick(@columns)) . ' OR ' . condition(pick(@columns)) . ')'
	  if chance(5) == 0;
	return join ' AND ', @parts;
}

# A query with TABLE for the schema, and whether its order counts.
sub query
{
	my ($table, $key, @columns) = @_;
	my $where = where(@columns);
	my @keys = split /, /, $key;
	my $kind = chance(10);

	if ($kind < 5)
	{
		my @some = map { pick(@columns)->{name} } 0 .. chance(5);
		return ('SELECT ' . join(', ', @some) . " FROM SCHEMA.$table WHERE $where", 0);
	}
	if ($kind == 5)
	{
		return ("SELECT * FROM SCHEMA.$table WHERE $where", 0);
	}
	if ($kind < 8)
	{
		# ties may come in any order, so only what is ordered is shown
		my $direction = pick('', ' DESC');
		my $order = join ', ', map { "$_$direction" } @keys;
		return ("SELECT $key FROM SCHEMA.$table WHERE $where ORDER BY $order"
			  . (chance(2) ? ' LIMIT ' . (1 + chance(30)) : ''), 1);
	}
	if ($kind == 8)
	{
		my $c = pick(@columns);
		my $more = $c->{type} =~ /^(bigint|integer|numeric|smallint)$/
		  ? ", min($c->{name}), max($c->{name}), sum($c->{name})" : '';
		return ("SELECT count(*), count($c->{name}) $more FROM SCHEMA.$table WHERE $where", 0);
	}
	# a nested loop's parameter, where the planner takes it
	my $c = pick(grep { @{ $_->{values} } } @columns);
	return ("SELECT v.x, s.* FROM (VALUES (" . join('), (', pick(@{ $c->{values} }), pick(@{ $c->{values} }), "NULL::$c->{type}")
		  . ")) v(x), LATERAL (SELECT $key FROM SCHEMA.$table WHERE $c->{name} = v.x"
		  . ' AND ' . block_range($columns[0]) . ') s', 0);
}

# Runs queries on both and returns those that differ.
sub differing
{
	my ($node, $db, $schema, $heap, @queries) = @_;
	my $script = "SET plan_cache_mode = auto;\nSET client_min_messages = error;\n";

	for my $i (0 .. $#queries)
	{
		my ($sql, $ordered) = @{ $queries[$i] };
		my $agg = $ordered ? 'array_agg(md5(r::text))'
		  : 'array_agg(md5(r::text) ORDER BY md5(r::text))';
		foreach my $side ($schema, $heap)
		{
			(my $q = $sql) =~ s/SCHEMA\./$side./g;
			my $count = "SELECT $i AS i, count(*) AS n, md5($agg\::text) AS h FROM ($q) r";
			# every third by way of a generic plan
			$script .= $i % 3 == 0
			  ? "PREPARE q AS $count; SET plan_cache_mode = force_generic_plan; EXECUTE q; DEALLOCATE q; SET plan_cache_mode = auto;\n"
			  : "$count;\n";
		}
	}
	my ($out, $err) = ('', '');
	my $status = $node->psql($db, $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @bad;
	my %seen;
	foreach my $line (split /\n/, $out)
	{
		my ($i, $n, $h) = split /\|/, $line;
		push @{ $seen{$i} }, "$n rows, $h";
	}
	for my $i (0 .. $#queries)
	{
		my @got = @{ $seen{$i} // [] };
		push @bad, "$queries[$i][0]\n  $schema: " . ($got[0] // 'none') . ", $heap: " . ($got[1] // 'none')
		  if @got != 2 || $got[0] ne $got[1];
	}
	push @bad, $err if $err ne '';
	return @bad;
}

sub joins
{
	my (%columns) = @_;
	my @queries;
	my @logs = @{ $columns{logs} // [] };
	my @transactions = @{ $columns{transactions} // [] };
	my @traces = @{ $columns{traces} // [] };

	my $qualified = sub {
		my ($alias, @c) = @_;
		return where(map { { %$_, name => "$alias.$_->{name}" } } @c);
	};
	foreach my $i (1 .. 20)
	{
		push @queries, [ 'SELECT l.block_number, l.log_index, t.hash, t."from" FROM SCHEMA.logs l'
			  . ' JOIN SCHEMA.transactions t USING (block_number, transaction_index) WHERE ' . $qualified->('l', @logs), 0 ]
		  if @logs;
		push @queries, [ 'SELECT l.block_number, l.log_index, t.hash FROM SCHEMA.logs l'
			  . ' LEFT JOIN SCHEMA.transactions t ON t.hash = l.transaction_hash AND t.block_number = l.block_number WHERE ' . $qualified->('l', @logs), 0 ]
		  if @logs;
		push @queries, [ 'SELECT t.block_number, t.transaction_index, b.hash, b."timestamp", t.block_timestamp FROM SCHEMA.transactions t'
			  . ' JOIN SCHEMA.blocks b ON b.number = t.block_number WHERE ' . $qualified->('t', @transactions), 0 ]
		  if @transactions;
		push @queries, [ 'SELECT t.block_number, t.transaction_index FROM SCHEMA.transactions t'
			  . ' WHERE EXISTS (SELECT FROM SCHEMA.logs l WHERE l.block_number = t.block_number'
			  . ' AND l.transaction_index = t.transaction_index AND ' . $qualified->('l', @logs) . ')', 0 ]
		  if @logs && @transactions;
		push @queries, [ 'SELECT x.block_number, x.transaction_index, x.trace_address, t.status FROM SCHEMA.traces x'
			  . ' JOIN SCHEMA.transactions t ON t.hash = x.transaction_hash WHERE ' . $qualified->('x', @traces), 0 ]
		  if @traces;
	}
	return @queries;
}

sub differential
{
	my ($node, $db, $schema, $heap, %option) = @_;
	my %key = (
		blocks => 'number',
		transactions => 'block_number, transaction_index',
		logs => 'block_number, log_index',
		traces => 'block_number, transaction_index, trace_address',
		state_diffs => 'block_number, transaction_index, address, key');
	my %columns;

	$state = $option{seed} // 1;
	foreach my $table (tables($node, $db, $schema))
	{
		next if $node->safe_psql($db, "SELECT count(*) FROM $heap.$table") == 0;
		my @columns = describe($node, $db, $heap, $table);
		# the block number first: block_range asks for it
		my ($block) = split /, /, $key{$table} // $columns[0]{name};
		@columns = sort { ($b->{name} eq quoted($block)) <=> ($a->{name} eq quoted($block)) } @columns;
		# jsonb compares, but not as a filter that anybody writes
		$_->{values} = [] foreach grep { $_->{type} =~ /jsonb/ } @columns;
		$columns{$table} = \@columns;
		my @queries = map { [ query($table, $key{$table} // $columns[0]{name}, @columns) ] } 1 .. $option{queries} // 100;
		my @bad = differing($node, $db, $schema, $heap, @queries);
		is(scalar @bad, 0, "$schema.$table: " . @queries . ' queries agree with the heap copy')
		  or diag join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ];
	}
	my @queries = joins(%columns);
	if (@queries)
	{
		my @bad = differing($node, $db, $schema, $heap, @queries);
		is(scalar @bad, 0, "$schema: " . @queries . ' joins agree with the heap copy')
		  or diag join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ];
	}
	return;
}

1;
