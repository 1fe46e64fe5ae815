#!/usr/bin/perl
# Compares what SQL gives with what went in, field by field.
#
#   test/compare_blocks.pl [-s SCHEMA] DATASET FILE...
#
# FILEs are NDJSON (.gz or not) of JSON-RPC block documents, in order of their
# blocks, as they were loaded into the dataset.  The script reads them itself
# and works out every column of every row of kind evm on its own; the rows come
# from the foreign tables of SCHEMA (default: the dataset's name) through psql,
# which finds the server by PGHOST, PGPORT, PGDATABASE, PGUSER.
#
# Ends with a line "N fields compared, N differ"; exit status 0 only if none
# does.  Core Perl only.
use strict;
use warnings;
use IO::Uncompress::Gunzip qw($GunzipError);
use Math::BigInt;
no warnings qw(portable recursion);

my $schema;
if (@ARGV && $ARGV[0] eq '-s')
{
	shift;
	$schema = shift;
}
my ($dataset, @files) = @ARGV;
die "usage: $0 [-s SCHEMA] DATASET FILE...\n" unless @files;
$schema //= $dataset;

my ($compared, $differ) = (0, 0);

# JSON.  JSON::PP takes a second per megabyte; this reads tokens by regexes.
# Numbers stay as written; true and false are references, so that no string
# equals them.
my ($TRUE, $FALSE) = (\1, \0);

sub json_unescape
{
	my ($s) = @_;
	my %simple = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");

	$s =~ s{\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)}{
		if (defined $1) { chr(0x10000 + ((hex($1) - 0xd800) << 10) + hex($2) - 0xdc00) }
		elsif (defined $3)
		{
			my $c = hex $3;
			$c == 0 || ($c >= 0xd800 && $c < 0xe000) ? chr 0xfffd : chr $c;
		}
		else { $simple{$4} // $4 }
	}gse;
	utf8::encode($s);
	return $s;
}

# No groups in the regexes: each would copy the whole text.
sub json_value
{
	my ($text) = @_;	# a reference, with pos

	$$text =~ /\G\s+/gc;
	my $start = pos($$text) // 0;
	my $c = substr $$text, $start, 1;
	if ($c eq '"')
	{
		my $escaped = 0;
		pos($$text) = $start + 1;
		while ($$text =~ /\G[^"\\]*+/gc && substr($$text, pos($$text), 1) eq '\\')
		{
			pos($$text) += 2;
			$escaped = 1;
		}
		my $s = substr $$text, $start + 1, pos($$text) - $start - 1;
		$$text =~ /\G"/gc or die 'unterminated string';
		return $s unless $escaped;
		utf8::decode($s);
		return json_unescape($s);
	}
	if ($c eq '{')
	{
		my %object;
		pos($$text) = $start + 1;
		return \%object if $$text =~ /\G\s*\}/gc;
		while (1)
		{
			my $name = json_value($text);
			$$text =~ /\G\s*:/gc or die 'no colon';
			$object{$name} = json_value($text);
			next if $$text =~ /\G\s*,/gc;
			$$text =~ /\G\s*\}/gc or die 'no end of object';
			return \%object;
		}
	}
	if ($c eq '[')
	{
		my @array;
		pos($$text) = $start + 1;
		return \@array if $$text =~ /\G\s*\]/gc;
		while (1)
		{
			push @array, json_value($text);
			next if $$text =~ /\G\s*,/gc;
			$$text =~ /\G\s*\]/gc or die 'no end of array';
			return \@array;
		}
	}
	pos($$text) = $start;
	return undef if $$text =~ /\Gnull/gc;
	return $TRUE if $$text =~ /\Gtrue/gc;
	return $FALSE if $$text =~ /\Gfalse/gc;
	return substr $$text, $start, pos($$text) - $start if $$text =~ /\G-?[0-9][-+.0-9eE]*/gc;
	die "no value at $start";
}

# One spelling of a JSON value, for comparing.
sub json_canonical
{
	my ($v) = @_;

	return 'null' unless defined $v;
	return '[' . join(',', map { json_canonical($_) } @$v) . ']' if ref $v eq 'ARRAY';
	return '{' . join(',', map { "\"$_\":" . json_canonical($v->{$_}) } sort keys %$v) . '}'
		if ref $v eq 'HASH';
	return $$v ? 'true' : 'false' if ref $v;
	return "\"$v\"";
}

# From JSON to the spelling that the SQL below gives.
my %decimal;

sub quantity
{
	my ($v) = @_;

	return undef unless defined $v;
	return $v =~ /^[0-9]+$/ ? Math::BigInt->new($v)->bstr : die "quantity $v" unless $v =~ /^0x([0-9a-f]+)$/i;
	return hex $1 if length $1 <= 15;
	return $decimal{lc $1} //= Math::BigInt->from_hex($1)->bstr;
}

sub data
{
	my ($v) = @_;

	return undef unless defined $v;
	$v =~ /^0x((?:[0-9a-f]{2})*)\z/i or die 'data ' . substr $v, 0, 80;
	return lc $1;
}

sub padded
{
	my ($v, $width) = @_;

	return undef unless defined $v;
	$v =~ /^0x0*([0-9a-f]*)$/i or die "quantity $v";
	return '0' x ($width * 2 - length $1) . lc $1;
}

# A quantity as bytes: zero is one byte.
sub quantity_bytes
{
	my ($v) = @_;

	$v =~ /^0x0*([0-9a-f]*)$/i or die "quantity $v";
	my $digits = lc $1;
	$digits = "0$digits" if length($digits) % 2;
	return $digits eq '' ? '00' : $digits;
}

sub list { my ($v) = @_; return defined $v ? '[' . join(',', @$v) . ']' : undef; }
sub hashes { my ($v) = @_; return defined $v ? list([ map { data($_) } @$v ]) : undef; }
sub json { my ($v) = @_; return defined $v ? json_canonical($v) : undef; }
sub first { foreach (@_) { return $_ if defined } return undef; }

# Rows of a document: table => [ { column => value }, ... ].
sub snake
{
	my ($name) = @_;

	$name =~ s/([A-Z])/_\l$1/g;
	return $name;
}

sub block_row
{
	my ($b) = @_;
	my %row = (number => quantity($b->{number}), timestamp => quantity($b->{timestamp}),
		uncles => hashes($b->{uncles}), withdrawals => json($b->{withdrawals}));

	foreach my $name (qw(hash parentHash transactionsRoot receiptsRoot stateRoot logsBloom
		sha3Uncles extraData miner nonce mixHash withdrawalsRoot parentBeaconBlockRoot
		requestsHash blockExtraData extDataHash))
	{
		$row{snake($name)} = data($b->{$name});
	}
	$row{sha3_uncles} = data($b->{sha3Uncles});
	foreach my $name (qw(size gasLimit gasUsed difficulty totalDifficulty baseFeePerGas blobGasUsed
		excessBlobGas l1BlockNumber mainBlockGeneralGasLimit sharedGasLimit timestampMillisPart
		blockGasCost extDataGasUsed minDelayExcess timestampMilliseconds targetExponent
		minPriceExponent settledHeight settledGasUnix settledGasNumerator settledExcess))
	{
		$row{snake($name)} = quantity($b->{$name});
	}
	return \%row;
}

sub transaction_row
{
	my ($block, $t, $r, $index) = @_;
	my %row = (block_number => $block->{number}, block_timestamp => $block->{timestamp},
		transaction_index => $index,
		r => padded($t->{r}, 32), s => padded($t->{s}, 32),
		access_list => json($t->{accessList}), authorization_list => json($t->{authorizationList}),
		blob_versioned_hashes => hashes($t->{blobVersionedHashes}),
		calls => json($t->{calls}), signature => json($t->{signature}),
		aa_authorization_list => json($t->{aaAuthorizationList}),
		key_authorization => json($t->{keyAuthorization}),
		l1_fee_scalar => $r->{l1FeeScalar},
		fee_payer_v => quantity($t->{feePayerSignature}{v}),
		fee_payer_r => padded($t->{feePayerSignature}{r}, 32),
		fee_payer_s => padded($t->{feePayerSignature}{s}, 32));

	$row{snake($_)} = data($t->{$_}) foreach qw(hash from to input feeToken);
	$row{snake($_)} = quantity($t->{$_})
		foreach qw(nonce value type chainId gas gasPrice maxFeePerGas maxPriorityFeePerGas
		maxFeePerBlobGas v yParity nonceKey validBefore validAfter);
	$row{snake($_)} = quantity($r->{$_})
		foreach qw(status gasUsed cumulativeGasUsed effectiveGasPrice blobGasUsed blobGasPrice
		l1Fee l1GasPrice l1GasUsed l1BaseFeeScalar l1BlobBaseFee l1BlobBaseFeeScalar);
	$row{contract_address} = data($r->{contractAddress});
	$row{logs_bloom} = data($r->{logsBloom});
	$row{sighash} = defined $row{input} && length $row{input} >= 8 ? substr($row{input}, 0, 8) : undef;
	return \%row;
}

sub log_row
{
	my ($tx, $l) = @_;
	my @topics = map { data($_) } @{ $l->{topics} };

	return {
		block_number => $tx->{block_number}, block_timestamp => $tx->{block_timestamp},
		transaction_index => $tx->{transaction_index}, transaction_hash => $tx->{hash},
		log_index => quantity($l->{logIndex}), address => data($l->{address}),
		data => data($l->{data}), map { ("topic$_" => $topics[$_]) } 0 .. 3 };
}

# Columns that every trace has, by its type and the two objects' members.
sub trace_row
{
	my ($block, $tx, $type, $address, $subtraces, $error, $revert, $v) = @_;
	my %row = (block_number => $block->{number}, block_timestamp => $block->{timestamp},
		transaction_index => $tx->{transaction_index}, transaction_hash => $tx->{hash},
		type => $type, trace_address => list($address), subtraces => $subtraces,
		error => $error, revert_reason => $revert);
	my %columns = (
		create => [qw(from value gas init result_gas_used result_code result_address)],
		call => [qw(from to value gas input type result_gas_used result_output)],
		suicide => [qw(address refund_address balance)],
		reward => [qw(author value type)]);

	foreach my $t (keys %columns)
	{
		foreach my $c (@{ $columns{$t} })
		{
			my $value = $t eq $type ? $v->{$c} : undef;
			$row{"${t}_$c"} =
				$c =~ /^(value|gas|balance|result_gas_used)$/ ? quantity($value) :
				$c eq 'type' ? $value : data($value);
		}
	}
	$row{call_type} = lc $row{call_type} if defined $row{call_type};
	my $input = $row{call_input};
	$row{call_sighash} = defined $input && length $input >= 8 ? substr($input, 0, 8) : undef;
	$row{from} = first(@row{qw(call_from create_from suicide_address)});
	$row{to} = first(@row{qw(call_to create_result_address suicide_refund_address reward_author)});
	$row{value} = first(@row{qw(call_value create_value suicide_balance reward_value)});
	$row{gas} = first(@row{qw(call_gas create_gas)});
	$row{input} = first(@row{qw(call_input create_init)});
	$row{gas_used} = first(@row{qw(call_result_gas_used create_result_gas_used)});
	$row{output} = first(@row{qw(call_result_output create_result_code)});
	return \%row;
}

sub flat_trace
{
	my ($block, $txs, $t) = @_;
	my $a = $t->{action};
	my $r = $t->{result} // {};
	my $tx = defined $t->{transactionHash} ? $txs->{data($t->{transactionHash})} : {};

	return trace_row($block, $tx, $t->{type}, $t->{traceAddress}, $t->{subtraces},
		$t->{error}, $t->{revertReason},
		{
			from => $a->{from}, to => $a->{to}, value => $a->{value}, gas => $a->{gas},
			init => $a->{init}, input => $a->{input},
			type => $t->{type} eq 'reward' ? $a->{rewardType} : $a->{callType},
			address => $a->{address}, refund_address => $a->{refundAddress},
			balance => $a->{balance}, author => $a->{author},
			result_gas_used => $r->{gasUsed}, result_code => $r->{code},
			result_address => $r->{address}, result_output => $r->{output} });
}

sub frames
{
	my ($block, $tx, $f, @address) = @_;
	my $calls = $f->{calls} // [];
	my $type = $f->{type} =~ /^CREATE/ ? 'create' : $f->{type} eq 'SELFDESTRUCT' ? 'suicide' : 'call';
	my @rows = trace_row($block, $tx, $type, \@address, scalar @$calls,
		$f->{error}, $f->{revertReason},
		{
			from => $f->{from}, to => $f->{to}, value => $f->{value}, gas => $f->{gas},
			init => $f->{input}, input => $f->{input}, type => $f->{type},
			address => $f->{from}, refund_address => $f->{to}, balance => $f->{value},
			result_gas_used => $f->{gasUsed}, result_code => $f->{output},
			result_address => $f->{to}, result_output => $f->{output} });

	push @rows, frames($block, $tx, $calls->[$_], @address, $_) foreach 0 .. $#$calls;
	return @rows;
}

sub diff_rows
{
	my ($block, $tx, $state) = @_;
	my @rows;

	my $add = sub {
		my ($address, $key, $diff, $bytes) = @_;
		return if !ref $diff;
		my ($kind, $v) = %$diff;
		my ($prev, $next) = $kind eq '+' ? (undef, $v) : $kind eq '-' ? ($v, undef) : @$v{qw(from to)};
		push @rows, {
			block_number => $block->{number}, block_timestamp => $block->{timestamp},
			transaction_index => $tx->{transaction_index}, transaction_hash => $tx->{hash},
			address => data($address), key => $key, kind => $kind,
			slot => $key =~ /^0x/ ? substr($key, 2) : undef,
			prev => defined $prev ? $bytes->($prev) : undef,
			next => defined $next ? $bytes->($next) : undef };
	};
	foreach my $address (keys %$state)
	{
		my $account = $state->{$address};
		$add->($address, 'balance', $account->{balance}, \&quantity_bytes);
		$add->($address, 'nonce', $account->{nonce}, \&quantity_bytes);
		$add->($address, 'code', $account->{code}, \&data);
		foreach my $slot (keys %{ $account->{storage} // {} })
		{
			$add->($address, '0x' . padded($slot, 32), $account->{storage}{$slot},
				sub { padded($_[0], 32) });
		}
	}
	return @rows;
}

sub document_rows
{
	my ($doc) = @_;
	my $block = block_row($doc->{block});
	my %rows = (blocks => [$block], transactions => [], logs => [], traces => [], state_diffs => []);
	my %receipts = map { (data($_->{transactionHash}) => $_) } @{ $doc->{receipts} // [] };
	my %txs;
	my $n = 0;

	foreach my $t (@{ $doc->{block}{transactions} // [] })
	{
		my $r = $receipts{data($t->{hash})} // {};
		my $row = transaction_row($block, $t, $r, quantity($t->{transactionIndex}) // $n);
		push @{ $rows{transactions} }, $row;
		$txs{ $row->{hash} } = $row;
		push @{ $rows{logs} }, map { log_row($row, $_) } @{ $r->{logs} // [] };
		$n++;
	}
	foreach my $t (@{ $doc->{traces} // [] })
	{
		push @{ $rows{traces} }, exists $t->{txHash}
			? frames($block, $txs{data($t->{txHash})}, $t->{result})
			: flat_trace($block, \%txs, $t);
	}
	foreach my $d (@{ $doc->{stateDiffs} // [] })
	{
		push @{ $rows{state_diffs} },
			diff_rows($block, $txs{data($d->{transactionHash})}, $d->{stateDiff});
	}
	return \%rows;
}

# SQL.
sub quote_ident { my ($s) = @_; $s =~ s/"/""/g; return "\"$s\""; }

sub psql
{
	my (@args) = @_;
	open my $fh, '-|', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', @args or die "psql: $!";
	return $fh;
}

sub columns_of
{
	my ($table) = @_;
	my $fh = psql('-c', "SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute
		WHERE attrelid = '" . quote_ident($schema) . '.' . quote_ident($table) . "'::regclass
		AND attnum > 0 AND NOT attisdropped ORDER BY attnum");
	my @columns = map { chomp; [ split / /, $_, 2 ] } <$fh>;

	close $fh or die "no columns of $schema.$table\n";
	return @columns;
}

sub spelling
{
	my ($name, $type) = @_;
	my $c = quote_ident($name);

	return "encode($c, 'hex')" if $type eq 'bytea';
	return "extract(epoch from $c)::bigint" if $type =~ /^timestamp/;
	return "'[' || array_to_string($c, ',') || ']'" if $type eq 'integer[]';
	return "CASE WHEN $c IS NOT NULL THEN '[' || array_to_string(ARRAY(SELECT encode(e, 'hex') FROM unnest($c) e), ',') || ']' END"
		if $type eq 'bytea[]';
	return $c;
}

my %order = (
	blocks => ['number'],
	transactions => [qw(block_number transaction_index)],
	logs => [qw(block_number log_index)],
	traces => [qw(block_number transaction_index trace_address)],
	state_diffs => [qw(block_number transaction_index address key)]);

# An open table: rows in order of their block, one looked at ahead.
sub open_table
{
	my ($table) = @_;
	my @columns = columns_of($table);
	my $key = quote_ident($order{$table}[0]);
	my $list = join ', ', map { spelling(@$_) } @columns;
	my $fh = psql('-c', "COPY (SELECT $list FROM " . quote_ident($schema) . '.' . quote_ident($table)
		. " ORDER BY $key) TO STDOUT");
	my $t = {
		name => $table, fh => $fh, columns => [ map { $_->[0] } @columns ],
		types => { map { @$_ } @columns } };

	next_row($t);
	return $t;
}

sub next_row
{
	my ($t) = @_;
	my $line = readline $t->{fh};
	my %escape = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t", v => "\013");

	if (!defined $line)
	{
		close $t->{fh} or die "reading $t->{name} failed\n";
		$t->{row} = undef;
		return;
	}
	chomp $line;
	my %row;
	my @values = split /\t/, $line, -1;
	foreach my $c (@{ $t->{columns} })
	{
		my $v = shift @values;
		if ($v eq '\N')
		{
			$row{$c} = undef;
			next;
		}
		$v =~ s/\\(.)/$escape{$1} \/\/ $1/ge if index($v, '\\') >= 0;
		$v = json_canonical(json_value(\(my $text = $v))) if $t->{types}{$c} eq 'jsonb';
		$row{$c} = $v;
	}
	$t->{row} = \%row;
	return;
}

sub rows_of_block
{
	my ($t, $number) = @_;
	my $key = $order{ $t->{name} }[0];
	my @rows;

	while (defined $t->{row} && $t->{row}{$key} == $number)
	{
		push @rows, $t->{row};
		next_row($t);
	}
	return @rows;
}

# Comparing.
sub complain
{
	my ($what) = @_;

	print "$what\n" if $differ < 50;
	$differ++;
	return;
}

# Rows in order of their key; equal keys (reward traces) by all they hold.
sub sorted
{
	my ($t, @rows) = @_;
	my $line = sub {
		my ($row) = @_;
		return join "\t", map { $_ // '~' } @$row{ @{ $order{ $t->{name} } } },
			map { substr $_ // '~', 0, 200 } @$row{ @{ $t->{columns} } };
	};
	my @keyed = map { [ $line->($_), $_ ] } @rows;

	return map { $_->[1] } sort { $a->[0] cmp $b->[0] } @keyed;
}

sub show
{
	my ($v) = @_;

	return 'NULL' unless defined $v;
	return length $v > 80 ? substr($v, 0, 80) . '... (' . length($v) . ')' : "'$v'";
}

sub compare_block
{
	my ($t, $number, $expected) = @_;
	my @want = sorted($t, @$expected);
	my @got = sorted($t, rows_of_block($t, $number));

	if (@want != @got)
	{
		$compared++;
		complain("$t->{name}, block $number: " . @want . ' rows went in, ' . @got . ' came out');
		return;
	}
	for my $i (0 .. $#want)
	{
		foreach my $c (@{ $t->{columns} })
		{
			die "no expectation for column $t->{name}.$c\n" unless exists $want[$i]{$c};
			my ($w, $g) = ($want[$i]{$c}, $got[$i]{$c});
			$compared++;
			next if defined $w ? defined $g && $w eq $g : !defined $g;
			complain("$t->{name}.$c, block $number, row $i: " . show($w) . ' went in, ' . show($g) . ' came out');
		}
	}
	return;
}

$ENV{PGOPTIONS} = ($ENV{PGOPTIONS} // '') . ' -c hotblocks.missing_data=ignore -c extra_float_digits=3';
$ENV{PGCLIENTENCODING} = 'UTF8';
my @tables = map { open_table($_) } qw(blocks transactions logs traces state_diffs);
my $blocks = 0;

foreach my $file (@files)
{
	my $fh = IO::Uncompress::Gunzip->new($file, MultiStream => 1) or die "$file: $GunzipError\n";

	while (defined(my $line = $fh->getline))
	{
		next unless $line =~ /\S/;
		my $rows = document_rows(json_value(\$line));
		my $number = $rows->{blocks}[0]{number};
		compare_block($_, $number, $rows->{ $_->{name} }) foreach @tables;
		$blocks++;
	}
}
foreach my $t (@tables)
{
	while (defined $t->{row})
	{
		$compared++;
		complain("$t->{name}: a row of block $t->{row}{$order{$t->{name}}[0]} came out that did not go in");
		next_row($t);
	}
}
print "$blocks blocks: $compared fields compared, $differ differ\n";
exit($differ ? 1 : 0);
