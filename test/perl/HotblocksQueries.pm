# Makes queries: a fixed sequence of pseudo-random choices over tables that are
# described to it.
#
#   seed_queries(7);
#   my %q = random_query(\@tables, $table);   # sql, ordered
#
# In the text, SIDE. stands for the schema, and each constant is a marker from
# constant(), so that a runner may give it as a literal, a parameter, a
# subquery or a column of an outer relation.  Conditions that a failing query
# may do without stand between \x05 and \x06.
#
# A table: name; columns, each with name, type, coll (its collation), eq and
# ord (does the type compare, and sort), loose (are there equal values that
# differ), canon (an expression in which they do not; empty if there is none),
# values (literals of the type) and cross (literals of other types that compare
# with it); blocks and second (the first columns of the sort key), key (sort
# key), unique (a key); min and max (of the block numbers).
#
# Expressions never raise an error for some rows only: which rows of a table
# meet a condition first is the plan's choice.
package HotblocksQueries;

use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(seed_queries chance pick random_query);

# A generator of our own, since perl's differs between versions.
my $state = 1;

sub seed_queries
{
	$state = $_[0];
	chance(2) for 1 .. 4;
	return;
}

sub chance
{
	my ($n) = @_;
	{
		use integer;
		$state = $state * 6364136223846793005 + 1442695040888963407;
	}
	return (($state >> 33) & 0x7fffffff) % $n;
}

sub pick { return $_[ chance(scalar @_) ]; }

sub constant
{
	my ($type, $literal) = @_;

	return "\x01$type\x02$literal\x03";
}

# A value of the column's type.
sub value
{
	my ($c) = @_;
	my $v = pick(@{ $c->{values} });

	return constant($c->{type}, $v);
}

# The same, or a value of a type that compares with it.
sub any_value
{
	my ($c) = @_;

	if (@{ $c->{cross} } && chance(5) == 0)
	{
		my $v = pick(@{ $c->{cross} });
		return $v =~ /::([^:+)]+)$/ ? constant($1, $v) : $v;
	}
	return chance(25) == 0 ? constant($c->{type}, "NULL::$c->{type}") : value($c);
}

sub array_of
{
	my ($c, $n) = @_;
	my @v = map { chance(12) == 0 ? 'NULL' : pick(@{ $c->{values} }) } 1 .. $n;

	return constant("$c->{type}\[]", 'ARRAY[' . join(', ', @v) . "]::$c->{type}\[]");
}

sub ordering { return pick('<', '<=', '>', '>='); }

# A condition on column c of alias a, of any form that has a meaning for it.
sub condition
{
	my ($t, $a) = @_;
	my $c = pick(@{ $t->{columns} });
	my $n = "$a.$c->{name}";
	my $kind = chance(40);

	return "$n IS " . pick('', 'NOT ') . 'NULL' if !$c->{eq} || !@{ $c->{values} } || $kind == 0;
	if ($c->{type} eq 'boolean' && chance(2))
	{
		return pick($n, "NOT $n", "$n IS TRUE", "$n IS NOT FALSE", "$n IS FALSE", "$n IS NOT TRUE",
			"$n IS UNKNOWN", "$n IS NOT UNKNOWN", "NOT ($n IS TRUE)");
	}
	if ($kind < 8 && $c->{ord})
	{
		my $op = ordering();
		return chance(6) ? "$n $op " . any_value($c) : any_value($c) . " $op $n";
	}
	return "$n = " . any_value($c) if $kind < 13;
	return "$n <> " . any_value($c) if $kind < 15;
	return "$n " . pick('', 'NOT ') . 'IN (' . join(', ', map { value($c) } 0 .. chance(6)) . ')' if $kind < 18;
	return "$n " . pick('', 'NOT ') . 'BETWEEN ' . pick('', 'SYMMETRIC ') . any_value($c) . ' AND ' . any_value($c)
	  if $kind < 20 && $c->{ord};
	return "$n IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . any_value($c) if $kind < 22;
	return 'NOT (' . condition($t, $a) . ')' if $kind == 22;
	return '(' . condition($t, $a) . ') IS ' . pick('', 'NOT ') . pick('TRUE', 'FALSE', 'UNKNOWN') if $kind == 23;
	if ($kind < 28 && $c->{type} !~ /\[\]$/)
	{
		return "$n = ANY (" . array_of($c, chance(9)) . ')' if $kind < 26;
		return "$n <> ALL (" . array_of($c, 1 + chance(3)) . ')' if $kind == 26;
		return "$n " . ordering() . pick(' ANY (', ' ALL (') . array_of($c, chance(4)) . ')' if $c->{ord};
	}
	return "$n " . pick('=', '=', '<>', $c->{ord} ? ordering() : '=') . pick(' ANY', ' ALL')
	  . " (ARRAY(SELECT h.$c->{name} FROM SIDE.$t->{name} h WHERE h.$t->{blocks} % " . (5 + chance(60)) . ' = 0))'
	  if $kind == 28 && $c->{type} !~ /\[\]$/;
	if ($kind == 29)
	{
		my @same = grep { $_->{type} eq $c->{type} && $_->{coll} eq $c->{coll} } @{ $t->{columns} };
		my $other = "$a." . pick(@same)->{name};
		return "$n " . pick('=', '<>', 'IS DISTINCT FROM', $c->{ord} ? ordering() : '=') . " $other";
	}
	return "coalesce($n, " . value($c) . ') = ' . value($c) if $kind == 30;
	return "nullif($n, " . value($c) . ') IS NULL' if $kind == 31;
	return "CASE WHEN $n = " . value($c) . ' THEN ' . condition($t, $a) . ' ELSE ' . condition($t, $a) . ' END' if $kind == 32;
	return "$n " . pick('', 'NOT ') . "IN (SELECT h.$c->{name} FROM SIDE.$t->{name} h WHERE h.$t->{blocks} = " . block($t) . ')'
	  if $kind == 33;
	return "$n " . pick('=', '<>', $c->{ord} ? ordering() : '=')
	  . " (SELECT h.$c->{name} FROM SIDE.$t->{name} h WHERE h.$t->{blocks} < " . block($t) . " ORDER BY $t->{unique} LIMIT 1)"
	  if $kind == 34;
	return special($c, $n) // "$n = " . value($c);
}

# Conditions on what the extension's functions make of bytes.
sub helper
{
	my ($c, $n) = @_;
	my $call = pick("hotblocks.topic_to_address($n)", "hotblocks.address($n, 0)", "hotblocks.address($n, 1)", "hotblocks.address_to_topic($n)",
		"hotblocks.uint256($n, 0)", "hotblocks.uint256($n, 0)", "hotblocks.uint256($n, 1)", "hotblocks.int256($n, 0)",
		"length($n)", "octet_length($n)");
	my $v;

	if ($call =~ /int256/)
	{
		$v = sub { return constant('numeric', pick('0', '1', '-1', '255', "'0.5'", "'1e48'", "2::numeric ^ 256 - 1", '2::numeric ^ 255',
			"'NaN'", '2::numeric ^ 248', "'-Infinity'") =~ s/(.*)/($1)::numeric/r) };
	}
	elsif ($call =~ /length/)
	{
		$v = sub { my ($t, $l) = @{ pick([ 'integer', '(' . pick(0, 1, 4, 19, 20, 32, 33, 64, -1) . ')::integer' ], [ 'bigint', pick(4, 20, 3000000000) . '::bigint' ]) }; return constant($t, $l) };
	}
	else
	{
		$v = sub {
			my $l = pick(@{ $c->{values} });
			return constant('bytea', pick($l, "substr($l, 1, 20)", "substr($l, 13)", "hotblocks.address_to_topic(substr($l || decode(repeat('00', 20), 'hex'), 1, 20))", "NULL::bytea"));
		};
	}
	return pick("$call = " . $v->(), "$call = " . $v->(), "$call <> " . $v->(), "$call " . ordering() . ' ' . $v->(), "$call IN (" . join(', ', $v->(), $v->(), $v->()) . ')',
		"$call NOT IN (" . join(', ', $v->(), $v->()) . ')', "NOT ($call = " . $v->() . ')', "$call IS " . pick('', 'NOT ') . 'NULL',
		"$call IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . $v->(), $v->() . ' ' . ordering() . " $call", "$call BETWEEN " . $v->() . ' AND ' . $v->());
}

# Conditions on how a text begins.
sub prefix
{
	my ($c, $n) = @_;
	my $l = pick(@{ $c->{values} });
	my $k = pick(0, 1, 2, 3, 4, 5, 6, 12, 42, 90, -1);
	my $some = constant('text', "left($l, " . pick(0, 1, 2, 3, 4, 5, 8, 42, 66) . ')');
	my $text = constant('text', pick("$l\::text", "$l\::text", "upper($l)", "lower($l)", "left($l, $k)", "'0x' || upper(substr($l, 3))", "$l || 'a'"));
	my ($plain) = $l =~ /^'([0-9a-z]*)'::/;
	my @like = ("''", "'%'", "'\\%'", "'0x%'", "'_%'", "'0X%'", "'0x0_%'");

	if (defined $plain)
	{
		my $cut = substr($plain, 0, chance(9));
		push @like, "'$plain'", map { ("'$cut%'", "'$cut%'", "'$cut\_%'", "'${cut}_'", "'$cut%a'", "'%$cut'", "'$cut\\'", uc "'$cut%'") } 1, 2;
	}
	my $like = pick(@like);
	return "starts_with($n, $some)" if !chance(6);
	$like = constant('text', "$like\::text") if chance(2) && $like !~ /\\'$/;
	return pick("left($n, $k)", "substr($n, 1, $k)", "substring($n FROM 1 FOR $k)") . ' ' . pick('=', '=', '<>', '<', 'IS DISTINCT FROM') . ' ' . pick($some, $text)
	  if $k >= 0 && chance(2);
	return pick("lower($n)", "upper($n)", $n) . ' ' . pick('=', '=', '<>', ordering(), 'IS NOT DISTINCT FROM') . " $text" if chance(3) == 0;
	return pick("length($n)", "octet_length($n)", "char_length($n)") . ' ' . pick('=', '<>', ordering()) . ' ' . constant('integer', pick(0, 1, 2, 3, 4, 42, 66, 67) . '::integer')
	  if chance(5) == 0;
	return 'NOT (' . "$n LIKE $like" . ')' if chance(8) == 0;
	return "$n " . pick('LIKE', 'LIKE', 'NOT LIKE', 'ILIKE', '^@') . " $like";
}

# Conditions that only some types have.
sub special
{
	my ($c, $n) = @_;
	my $type = $c->{type};
	my $op = pick('=', '<', '>=');

	return pick(helper($c, $n), helper($c, $n), "octet_length($n) " . ordering() . ' ' . constant('integer', pick(0, 1, 4, 20, 32, 33) . '::integer'),
		"substr($n, 1, " . pick(1, 3, 4, 8, 40) . ') = substr(' . value($c) . ', 1, ' . pick(1, 3, 4, 8, 40) . ')',
		"substr($n, " . pick(0, 1, 2) . ', ' . pick(1, 4) . ") $op " . value($c),
		"encode($n, 'hex') LIKE " . pick("'0%'", "'%00%'", "'f_%'"),
		"$n LIKE " . value($c), "$n || '\\x00' = " . value($c), "position(" . value($c) . " IN $n) > 0")
	  if $type eq 'bytea';
	return pick(prefix($c, $n), prefix($c, $n), prefix($c, $n), "$n LIKE " . pick("'w%'", "'%1'", "'w_'", "'a%b'", "''", "'0x%'", "'%'"), "$n NOT LIKE 'w1%'", "$n ~ '^w?[0-9a]'",
		"$n ILIKE 'W%'", "length($n) " . ordering() . ' ' . pick(0, 2, 5, 12), "upper($n) = upper(" . value($c) . ')',
		"starts_with($n, 'w1')", "$n || 'x' " . ordering() . ' ' . value($c), "$n COLLATE \"C\" " . ordering() . ' ' . value($c),
		"$n COLLATE \"POSIX\" = " . value($c))
	  if $type =~ /^(text$|character)/ && !$c->{loose};
	return pick("$n % 7 = " . constant('integer', chance(7) . '::integer'), "$n\::numeric + 1 > " . value($c) . '::numeric',
		"$n\::float8 " . ordering() . ' ' . value($c), "$n\::text LIKE '%1'", "sign($n) < " . chance(2))
	  if $type =~ /^(smallint|integer|bigint)$/;
	return pick("trunc($n) = " . value($c), "scale($n) > 0", "-$n " . ordering() . ' ' . value($c), "$n\::text LIKE '%0'",
		"$n + 1 > " . value($c), "abs($n) = " . value($c))
	  if $type =~ /^numeric/ && $type !~ /\[/;
	return pick("cardinality($n) = " . chance(4), value($c) . " <@ $n", "$n \@> " . value($c), "$n && " . value($c),
		"$n\[1] IS NULL", "$n\[1] = ($n)[2]", "array_length($n, 1) " . ordering() . ' 1')
	  if $type =~ /\[\]$/;
	return pick("date_trunc('hour', $n) = date_trunc('hour', " . value($c) . ')', "extract(year FROM $n) > 2023",
		"$n + interval '1 day' " . ordering() . ' ' . value($c))
	  if $type =~ /^timestamp/ && $type !~ /\[/;
	return undef;
}

sub tree
{
	my ($t, $a, $depth) = @_;

	return condition($t, $a) if $depth == 0 || chance(3) == 0;
	my $op = pick(' AND ', ' OR ');
	my $text = '(' . join($op, map { tree($t, $a, $depth - 1) } 0 .. 1 + chance(2)) . ')';
	return chance(8) ? $text : "NOT $text";
}

sub block_number
{
	my ($t) = @_;

	return $t->{min} - 10 + chance($t->{max} - $t->{min} + 20);
}

sub block
{
	my ($t, $at) = @_;

	$at //= block_number($t);
	return constant('bigint', ($at < 0 ? "'$at'" : $at) . '::bigint');
}

# Bounds on the block number (and what follows it).
sub range
{
	my ($t, $a, $narrow) = @_;
	my $n = "$a.$t->{blocks}";
	my $at = block_number($t);
	my ($x, $y) = (block($t, $at), block($t));

	return pick("$n = $x", "$n BETWEEN $x AND " . block($t, $at + chance(1 + ($t->{max} - $t->{min}) / 60)),
		"$n IN ($x, $y, " . block($t, $at + 1) . ')', "$n > $x AND $n < " . block($t, $at + 4))
	  if $narrow;
	my @forms = ("$n = $x", "$n >= $x", "$n < $y", "$n BETWEEN $x AND $y", "$n BETWEEN $x AND " . block($t, $at + 20),
		"$n IN ($x, $y, " . block($t, $at + 1) . ')', "$n <> $x", "($n < $x OR $n > $y)", "$n > $x AND $n < $x",
		"$n > $at.5", "$n >= " . constant('numeric', "'$at.0'::numeric"),
		"$n = ANY (ARRAY[$x, $y, NULL])", "NOT ($n < $x)", "NOT ($n BETWEEN $x AND $y)");
	push @forms, "$n <= " . constant('smallint', "'$at'::smallint") if $t->{max} < 30000;
	if (my $i = $t->{second})
	{
		my $k = constant('integer', chance(8) . '::integer');
		push @forms, "$n = $x AND $a.$i = $k", "($n, $a.$i) > ($x, $k)", "($n, $a.$i) <= ($y, $k) AND $n > $x",
		  "($n, $a.$i) = ($x, $k)", "($n, $a.$i) IN (($x, $k), ($y, 1))", "NOT ($n, $a.$i) >= ($x, $k)",
		  "($n, $a.$i) >= ($x, $k) AND ($n, $a.$i) < ($y, 2)";
	}
	return pick(@forms);
}

sub part { return "\x05$_[0]\x06"; }

# Conditions on one alias, joined by AND.
sub where
{
	my ($t, $a, $narrow) = @_;
	my @parts;

	push @parts, range($t, $a, $narrow) if $narrow || chance(2);
	push @parts, tree($t, $a, 2) if $narrow ? chance(3) == 0 : !@parts || chance(4);
	return join ' AND ', map { part($_) } @parts;
}

# What may be shown without a doubt: a column where equal values are the same,
# else an expression, else nothing.
sub shown
{
	my ($c, $a) = @_;
	my $n = defined $a ? "$a.$c->{name}" : $c->{name};

	return $n if !$c->{loose};
	return $c->{canon} eq '' ? undef : $c->{canon} =~ s/\?/$n/r;
}

# A column that may be grouped by, and how it is shown.
sub group_column
{
	my ($t, $a) = @_;
	my @good = grep { $_->{eq} && defined shown($_, $a) } @{ $t->{columns} };
	my $c = pick(@good);

	return ($c, shown($c, $a));
}

sub aggregate
{
	my ($t, $a) = @_;
	my ($c, $e) = group_column($t, $a);
	my $n = "$a.$c->{name}";
	my @forms = ('count(*)', "count($n)", "count(DISTINCT $n)", "count(*) FILTER (WHERE " . condition($t, $a) . ')',
		"bool_or($n IS NULL)", "array_agg($e ORDER BY " . unique($t, $a) . ')', "array_agg(DISTINCT $e)");

	push @forms, ("min($e)", "max($e)") x 3
	  if $c->{type} =~ /^(smallint|integer|bigint|numeric|real|double|text|date|time|interval|inet|money)/ && $c->{ord};
	push @forms, ("sum($n)", "avg($n)", "sum($n * 2::numeric)") if $c->{type} =~ /^(smallint|integer|bigint|numeric)$/ && !$c->{loose};
	return pick(@forms);
}

sub unique
{
	my ($t, $a, $direction) = @_;

	$direction //= '';
	return join ', ', map { "$a.$_$direction" } split /, /, $t->{unique};
}

# An expression of the select list.
sub output
{
	my ($t, $a) = @_;
	my $c = pick(@{ $t->{columns} });
	my $n = "$a.$c->{name}";

	return $n if chance(8);
	return pick("$n IS NULL", "($n)\::text", "ROW($n, $a.$t->{blocks})", "coalesce($n, $n)", $a, "pg_column_size($n) > 0",
		"CASE WHEN " . condition($t, $a) . " THEN $n END", '1', "to_jsonb($a.$t->{blocks})",
		"(SELECT count(*) FROM SIDE.$t->{name} s WHERE s.$t->{blocks} = $a.$t->{blocks})",
		"length(($n)\::text)");
}

sub outputs
{
	my ($t, $a, $most) = @_;

	return join ', ', map { output($t, $a) } 0 .. chance($most);
}

sub limit
{
	return pick('', ' LIMIT ' . (1 + chance(40)), ' LIMIT ' . (1 + chance(2000)), ' OFFSET ' . chance(900) . ' LIMIT 50',
		' OFFSET ' . chance(30), ' LIMIT 0');
}

# Two tables with columns that may be compared: (table, table, condition).
sub joinable
{
	my ($tables, $t) = @_;
	my $s = pick(@$tables);
	my @pairs;

	foreach my $c (@{ $t->{columns} })
	{
		push @pairs, map { [ $c, $_ ] }
		  grep { $_->{type} eq $c->{type} && $_->{coll} eq $c->{coll} && $c->{eq} } @{ $s->{columns} };
	}
	my @on;
	push @on, "a.$t->{blocks} = b.$s->{blocks}" if !@pairs || chance(2);
	push @on, "a.$t->{second} = b.$s->{second}" if $t->{second} && $s->{second} && chance(2);
	if (@pairs && (!@on || chance(3) == 0))
	{
		my ($x, $y) = @{ pick(@pairs) };
		push @on, chance(8) ? "a.$x->{name} = b.$y->{name}"
		  : $x->{ord} ? "a.$x->{name} " . ordering() . " b.$y->{name}" : "a.$x->{name} IS NOT DISTINCT FROM b.$y->{name}";
	}
	return ($s, join ' AND ', @on);
}

sub join_query
{
	my ($tables, $t) = @_;
	my ($s, $on) = joinable($tables, $t);
	# now and then with the rows of the heap
	my $other = chance(4) ? 'SIDE' : 'HEAP';
	my $join = pick('JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
	my ($wa, $wb) = (where($t, 'a', 1), where($s, 'b', chance(3)));
	my $list = pick('a.*', outputs($t, 'a', 3) . ', ' . outputs($s, 'b', 2), 'count(*), count(a), count(b)', 'a, b',
		"a.$t->{blocks}, b.$s->{blocks}");
	my $where;

	if ($join eq 'FULL JOIN' || chance(3) == 0)
	{
		# restrict both before they are joined
		return "SELECT $list FROM (SELECT * FROM SIDE.$t->{name} a WHERE $wa) a $join"
		  . " (SELECT * FROM $other.$s->{name} b WHERE $wb) b ON $on"
		  if $on !~ /[<>]|DISTINCT/;
		$join = 'JOIN';
	}
	$where = $join eq 'RIGHT JOIN' ? $wb : $wa;
	my $more = $join eq 'RIGHT JOIN' ? $wa : $wb;
	return "SELECT $list FROM SIDE.$t->{name} a $join $other.$s->{name} b ON $on AND $more WHERE $where"
	  . ($join eq 'LEFT JOIN' && chance(3) == 0 ? " AND b.$s->{blocks} IS NULL" : '');
}

sub exists_query
{
	my ($tables, $t) = @_;
	my ($s, $on) = joinable($tables, $t);
	my ($wa, $wb) = (where($t, 'a', chance(2)), where($s, 'b', 1));
	my $not = pick('', '', 'NOT ');
	my ($x) = $on =~ /a\.("[^"]+"|\S+) = b\./;

	if (defined $x && chance(3) == 0)
	{
		my ($y) = $on =~ /= b\.("[^"]+"|\S+)/;
		return 'SELECT ' . outputs($t, 'a', 3) . " FROM SIDE.$t->{name} a WHERE $wa AND a.$x ${not}IN"
		  . " (SELECT b.$y FROM SIDE.$s->{name} b WHERE $wb)";
	}
	return 'SELECT ' . outputs($t, 'a', 3) . " FROM SIDE.$t->{name} a WHERE $wa AND ${not}EXISTS"
	  . " (SELECT FROM SIDE.$s->{name} b WHERE $on AND $wb)";
}

# The planner may make a parameter of the outer row's value.
sub lateral_query
{
	my ($tables, $t) = @_;
	my $from = "SIDE.$t->{name}";
	my $key = $t->{blocks};
	my @eq = grep { $_->{eq} } @{ $t->{columns} };
	my $c = pick(@eq)->{name};
	# (not those at the ends of bigint: they are added to)
	my $outer = sub { return "(SELECT DISTINCT $_[0] FROM HEAP.$t->{name} h WHERE h.$key % " . (20 + chance(80)) . ' = ' . chance(20)
		  . " AND h.$key BETWEEN $t->{min} AND $t->{max}) p" };
	my $kind = chance(6);

	return "SELECT p.$key AS x, s.* FROM " . $outer->($key) . ", LATERAL (SELECT " . outputs($t, 's', 3)
	  . " FROM $from s WHERE s.$key = p.$key AND " . part(condition($t, 's')) . ' OFFSET 0) s' if $kind == 0;
	return "SELECT p.$key AS x, s.* FROM " . $outer->($key) . ", LATERAL (SELECT " . outputs($t, 's', 3)
	  . " FROM $from s WHERE s.$key BETWEEN p.$key - 1 AND p.$key + " . chance(3) . ' OFFSET 0) s' if $kind == 1;
	return "SELECT p.$key AS x, s.* FROM " . $outer->($key) . " LEFT JOIN LATERAL (SELECT $t->{unique} FROM $from s WHERE s.$key "
	  . ordering() . " p.$key ORDER BY " . unique($t, 's', pick('', ' DESC')) . ' LIMIT ' . (1 + chance(3)) . ') s ON true' if $kind == 2;
	return "SELECT p.*, s.* FROM " . $outer->("$key, $t->{second}") . ", LATERAL (SELECT " . outputs($t, 's', 3)
	  . " FROM $from s WHERE s.$key = p.$key AND s.$t->{second} = p.$t->{second} OFFSET 0) s" if $kind == 3 && $t->{second};
	# equal values that differ must not be collapsed
	return "SELECT s.* FROM (SELECT DISTINCT ON ($c) $c FROM HEAP.$t->{name} h WHERE h.$key % 50 = " . chance(50)
	  . " ORDER BY $c, $t->{unique}) p, LATERAL (SELECT $t->{unique}, s.$c FROM $from s WHERE s.$c = p.$c AND " . where($t, 's', 1) . ' OFFSET 0) s'
	  if (grep { $_->{name} eq $c && $_->{ord} } @eq);
	return "SELECT a.$key, (SELECT count(*) FROM $from s WHERE s.$key = a.$key AND " . condition($t, 's') . ") FROM $from a WHERE "
	  . where($t, 'a', 1);
}

sub grouped_query
{
	my ($t) = @_;
	my $from = "SIDE.$t->{name} a WHERE " . where($t, 'a');
	my ($c, $e) = group_column($t, 'a');
	my ($d, $f) = group_column($t, 'a');
	my $n = "a.$c->{name}";
	my $kind = chance(8);
	my $list = join ', ', map { aggregate($t, 'a') } 0 .. chance(3);

	return "SELECT $list FROM $from" if $kind < 3;
	return "SELECT $e, $list FROM $from GROUP BY $e" if $kind == 3;
	return "SELECT $e, $f, count(*) FROM $from GROUP BY " . pick('', 'ROLLUP', 'CUBE') . "($e, $f)" if $kind == 4;
	return "SELECT a.$t->{blocks}, $list FROM $from GROUP BY a.$t->{blocks} HAVING count(*) > " . chance(4) if $kind == 5;
	return 'SELECT DISTINCT ' . join(', ', map { (group_column($t, 'a'))[1] } 0 .. chance(3)) . " FROM $from" if $kind == 6;
	return "SELECT count(DISTINCT $n), count(DISTINCT a.$d->{name}) FROM $from" if !$c->{ord};
	return "SELECT DISTINCT ON ($n) a.* FROM $from ORDER BY $n" . pick('', ' DESC') . ', ' . unique($t, 'a');
}

sub window_query
{
	my ($t) = @_;
	my $from = "SIDE.$t->{name} a WHERE " . where($t, 'a');
	my $u = unique($t, 'a');
	my ($c, $e) = group_column($t, 'a');
	my @ordered = grep { $_->{ord} } @{ $t->{columns} };
	my $o = 'a.' . pick(@ordered)->{name};

	return 'SELECT ' . pick("row_number() OVER (PARTITION BY a.$c->{name} ORDER BY $u)",
		"lag($e) OVER (ORDER BY $u), lead($e) OVER (ORDER BY $u)", "rank() OVER (ORDER BY $o), dense_rank() OVER (ORDER BY $o DESC)",
		"count(*) OVER (ORDER BY $o)", "count($e) OVER (PARTITION BY a.$t->{blocks} ORDER BY $o NULLS FIRST)",
		"first_value($e) OVER (PARTITION BY a.$t->{blocks} ORDER BY $u ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
		"count(*) OVER (), count(*) OVER (PARTITION BY $e)")
	  . ", a.$t->{blocks} FROM $from";
}

sub set_query
{
	my ($tables, $t) = @_;
	my ($c, $e) = group_column($t, 'a');
	my $s = pick(@$tables);
	my ($d) = grep { $_->{type} eq $c->{type} && $_->{coll} eq $c->{coll} } @{ $s->{columns} };
	my $f;

	($s, $d) = ($t, $c) if !defined $d;
	$f = shown($d, 'b') // 'NULL';
	my $all = pick(' ALL', '');
	return "SELECT $e AS x FROM SIDE.$t->{name} a WHERE " . where($t, 'a') . ' ' . pick('UNION', 'UNION', 'INTERSECT', 'EXCEPT') . $all
	  . " SELECT $f FROM SIDE.$s->{name} b WHERE " . where($s, 'b');
}

sub with_query
{
	my ($tables, $t) = @_;
	my $how = pick('', 'MATERIALIZED', 'NOT MATERIALIZED');
	my $key = $t->{blocks};

	return "WITH w AS $how (SELECT * FROM SIDE.$t->{name} a WHERE " . where($t, 'a') . ')'
	  . pick(" SELECT * FROM w WHERE " . condition($t, 'w'), " SELECT count(*) FROM w x JOIN w y USING ($t->{unique})",
		" SELECT (SELECT count(*) FROM w), (SELECT max($key) FROM w), (SELECT min($key) FROM w WHERE " . condition($t, 'w') . ')',
		" SELECT * FROM w WHERE $key = (SELECT max($key) FROM w)")
	  if chance(3);
	return "WITH RECURSIVE w AS (SELECT min(a.$key) AS x FROM SIDE.$t->{name} a UNION ALL"
	  . " SELECT (SELECT min(a.$key) FROM SIDE.$t->{name} a WHERE a.$key > w.x::numeric + " . chance(9) . ') FROM w WHERE w.x IS NOT NULL) SELECT * FROM w';
}

sub ordered_query
{
	my ($t) = @_;
	my $where = where($t, 'a');
	my $from = "SIDE.$t->{name} a WHERE $where";
	my $kind = chance(4);

	# in the order of the sort key: equal rows come in any order, so only what is
	# ordered is shown
	if ($kind < 2 && $t->{key})
	{
		my @key = split /, /, $t->{key};
		@key = @key[ 0 .. chance(scalar @key) ];
		my $direction = pick('', ' DESC', ' DESC NULLS LAST', ' NULLS FIRST');
		return 'SELECT ' . join(', ', map { "a.$_" } @key) . " FROM $from ORDER BY " . join(', ', map { "a.$_$direction" } @key) . limit();
	}
	my $direction = pick('', ' DESC');
	return 'SELECT ' . pick('a.*', outputs($t, 'a', 4)) . " FROM $from ORDER BY " . unique($t, 'a', $direction) . limit() if $kind == 2;
	my @ordered = map { "a.$_->{name}" . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') } map { pick(grep { $_->{ord} } @{ $t->{columns} }) } 0 .. chance(2);
	return 'SELECT ' . pick('a.*', outputs($t, 'a', 4)) . " FROM $from ORDER BY " . join(', ', @ordered) . ', ' . unique($t, 'a') . limit();
}

sub random_query
{
	my ($tables, $t) = @_;
	my $kind = chance(40);
	my $sql;

	return (sql => ordered_query($t), ordered => 1) if $kind < 8;
	if ($kind < 10) { $sql = 'SELECT count(*) FROM SIDE.' . $t->{name} . ' a WHERE ' . where($t, 'a'); }
	elsif ($kind < 12) { $sql = "SELECT * FROM SIDE.$t->{name} a WHERE " . where($t, 'a'); }
	elsif ($kind < 16) { $sql = 'SELECT ' . outputs($t, 'a', 6) . " FROM SIDE.$t->{name} a WHERE " . where($t, 'a'); }
	elsif ($kind < 20) { $sql = lateral_query($tables, $t); }
	elsif ($kind < 25) { $sql = join_query($tables, $t); }
	elsif ($kind < 28) { $sql = exists_query($tables, $t); }
	elsif ($kind < 33) { $sql = grouped_query($t); }
	elsif ($kind < 35) { $sql = window_query($t); }
	elsif ($kind < 37) { $sql = set_query($tables, $t); }
	elsif ($kind < 38) { $sql = with_query($tables, $t); }
	elsif ($kind < 39) { $sql = "SELECT count(*) FROM (SELECT 1 FROM SIDE.$t->{name} a WHERE " . where($t, 'a') . ' LIMIT ' . (1 + chance(300)) . ') x'; }
	else { $sql = "SELECT a FROM SIDE.$t->{name} a WHERE " . where($t, 'a'); }
	return (sql => $sql, ordered => 0);
}

1;
