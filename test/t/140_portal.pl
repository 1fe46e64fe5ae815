# Documents in the shape of SQD's portal: the sample chain, turned into it,
# gives the rows that it gives in JSON-RPC shape; and what a portal leaves out
# is not there, and said so.
use strict;
use warnings;
use HotblocksCluster;
use IO::Uncompress::Gunzip qw($GunzipError);
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $json = JSON::PP->new->canonical->allow_nonref;

# Quantities that a portal writes as numbers.
my %number = map { $_ => 1 } qw(number timestamp size nonce type chainId
	transactionIndex logIndex status yParity);

# An object's members, some of them as numbers; nothing is left out.
sub members
{
	my ($from, @names) = @_;
	my %to;

	foreach my $name (@names)
	{
		my $value = $from->{$name};
		$value = hex($value) if defined $value && $number{$name} && length $value <= 16;
		$to{$name} = $value;
	}
	return \%to;
}

my @header = qw(number hash parentHash timestamp transactionsRoot receiptsRoot
	stateRoot logsBloom sha3Uncles extraData miner mixHash size gasLimit gasUsed
	difficulty totalDifficulty baseFeePerGas uncles withdrawals withdrawalsRoot
	blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash);
my @transaction = qw(transactionIndex hash from to nonce input value type chainId
	gas gasPrice maxFeePerGas maxPriorityFeePerGas maxFeePerBlobGas v r s yParity
	accessList blobVersionedHashes authorizationList);
my @receipt = qw(status gasUsed cumulativeGasUsed effectiveGasPrice
	contractAddress logsBloom blobGasUsed blobGasPrice);

sub portal_traces
{
	my ($entries) = @_;
	my @traces;

	foreach my $entry (@$entries)
	{
		my %action = %{ $entry->{action} };
		my %trace = map { $_ => $entry->{$_} }
			qw(type traceAddress subtraces error revertReason);

		delete $action{creationMethod};
		$trace{transactionIndex} = $entry->{transactionPosition};
		$action{type} = delete $action{callType} if exists $action{callType};
		$action{type} = delete $action{rewardType} if exists $action{rewardType};
		$trace{action} = \%action;
		$trace{result} = $entry->{result};
		push @traces, \%trace;
	}
	return \@traces;
}

sub state_diff_rows
{
	my ($index, $address, $key, $diff) = @_;

	return () if !ref $diff;
	my ($kind) = keys %$diff;
	my $value = $diff->{$kind};
	return {
		transactionIndex => $index, address => $address, key => $key, kind => $kind,
		prev => $kind eq '*' ? $value->{from} : $kind eq '-' ? $value : undef,
		next => $kind eq '*' ? $value->{to} : $kind eq '+' ? $value : undef
	};
}

sub portal_state_diffs
{
	my ($diffs, $index_of) = @_;
	my @rows;

	foreach my $diff (@$diffs)
	{
		my $index = $index_of->{ $diff->{transactionHash} };
		my $state = $diff->{stateDiff};

		foreach my $address (sort keys %$state)
		{
			my $account = $state->{$address};
			push @rows, state_diff_rows($index, $address, $_, $account->{$_})
				foreach qw(balance code nonce);
			push @rows, state_diff_rows($index, $address, $_, $account->{storage}{$_})
				foreach sort keys %{ $account->{storage} };
		}
	}
	return \@rows;
}

# A document in JSON-RPC shape as a portal would have it.
sub to_portal
{
	my ($doc, $one_by_one) = @_;
	my $block = $doc->{block};
	my %receipt_of = map { $_->{transactionHash} => $_ } @{ $doc->{receipts} // [] };
	my %index_of;
	my %portal = (header => members($block, @header));
	my @logs;

	$portal{header}{nonce} = $block->{nonce};    # eight bytes
	foreach my $tx (@{ $block->{transactions} })
	{
		my $receipt = $receipt_of{ $tx->{hash} };
		my $item = members($tx, @transaction);

		$index_of{ $tx->{hash} } = $item->{transactionIndex};
		$item->{sighash} = length $tx->{input} >= 10 ? substr($tx->{input}, 0, 10) : undef;
		$item = { %$item, %{ members($receipt, @receipt) } };
		push @{ $portal{transactions} }, $item;
		foreach my $log (@{ $receipt->{logs} })
		{
			my $row = members($log,
				qw(transactionIndex logIndex transactionHash address data));

			if ($one_by_one)
			{
				$row->{"topic$_"} = $log->{topics}[$_] foreach 0 .. 3;
			}
			else
			{
				$row->{topics} = $log->{topics};
			}
			push @logs, $row;
		}
	}
	$portal{transactions} //= [];
	$portal{logs} = \@logs if $doc->{receipts};
	$portal{traces} = portal_traces($doc->{traces})
		if $doc->{traces} && ($doc->{traceFormat} // '') eq 'trace_block';
	$portal{stateDiffs} = portal_state_diffs($doc->{stateDiffs}, \%index_of)
		if $doc->{stateDiffs};
	return \%portal;
}

my $node = HotblocksCluster->new('portal');
$node->init;
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');

sub query
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# SQLSTATE and message of a statement that fails
sub failure
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	return $err =~ /ERROR:  (\w+): (.*)/ ? "$1 $2" : "no error: $out $err";
}

# The two shapes, side by side
my $chain = HotblocksCluster::sample_chain();
my $in = IO::Uncompress::Gunzip->new($chain) or die $GunzipError;
my $portal_file = PostgreSQL::Test::Utils::tempdir() . '/portal.ndjson';
my @documents;
my $count = 0;

while (my $line = <$in>)
{
	push @documents, to_portal(decode_json($line), $count++ % 2);
}
PostgreSQL::Test::Utils::append_to_file($portal_file,
	join('', map { $json->encode($_) . "\n" } @documents));
chmod 0644, $portal_file;

query(qq(
	SELECT hotblocks.create_dataset('rpc', 'evm');
	SELECT hotblocks.load_file('rpc', '$chain');
	SELECT hotblocks.create_dataset('portal', 'evm');
	SELECT hotblocks.load_file('portal', '$portal_file')));

sub same_rows
{
	my ($table, $columns) = @_;

	is( query(qq(
			SELECT count(*) FROM (
				(SELECT $columns FROM rpc.$table EXCEPT ALL SELECT $columns FROM portal.$table)
				UNION ALL
				(SELECT $columns FROM portal.$table EXCEPT ALL SELECT $columns FROM rpc.$table)) d)),
		'0', "$table of both shapes are the same");
	isnt(query("SELECT count(*) FROM portal.$table"), '0', "there are $table")
		unless $table eq 'state_diffs';
	return;
}

foreach my $table (qw(blocks transactions logs traces state_diffs))
{
	my $columns = query(qq(
		SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = 'rpc.$table'::regclass AND attnum > 0 AND NOT attisdropped));
	same_rows($table, $columns);
}
is(query(q(SELECT string_agg(member, ' ') FROM hotblocks.unknown_members WHERE dataset = 'portal')),
	'', 'every member is known');
is( query(q(SELECT string_agg(table_name || '.' || column_name, ' ') FROM hotblocks.incomplete_columns
		WHERE dataset = 'portal' AND column_name IN ('hash', 'gas_used', 'topic0', 'data', 'sighash', 'call_type'))),
	'', 'what was delivered is complete');
is( query(q(SELECT from_block || '-' || to_block FROM hotblocks.incomplete_columns
		WHERE dataset = 'portal' AND table_name = 'transactions' AND column_name = 'l1_fee')),
	query("SELECT (SELECT min(block_number) FROM rpc.transactions) || '-' || max(number) FROM rpc.blocks"),
	'a column that was not asked for is missing in all blocks, also past those without rows');
is( query(q(SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM hotblocks.coverage WHERE dataset = 'portal')),
	query(q(SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM hotblocks.coverage WHERE dataset = 'rpc')),
	'coverage is that of the other shape');
is(query(q(SELECT trace_format FROM hotblocks.status('portal'))), 'portal',
	'traces of a portal are a format of their own');
is(query("SELECT (hotblocks.status('portal')).version"), '1', 'one load');
query(qq(SELECT hotblocks.load_file('portal', '$portal_file')));
is(query("SELECT (hotblocks.status('portal')).version"), '1', 'delivered again, nothing changes');
like(failure(qq(SELECT hotblocks.load_file('portal', '$chain'))),
	qr/no error/, 'blocks of the other shape are the same blocks');

# The feed table, and both shapes in one statement
query(q(
	SELECT hotblocks.create_dataset('mixed', 'evm', linkage => 'none')));
query("COPY mixed.block_feed FROM STDIN;\n"
	. join("\n", map { my $d = $json->encode($documents[$_]); $d =~ s/\\/\\\\/g; $d } 100 .. 110)
	. "\n\\.\n");
is(query('SELECT count(*), min(number) FROM mixed.blocks'), '11|100', 'the feed takes portal documents');

# What a portal leaves out
query("SELECT hotblocks.create_dataset('part', 'evm', linkage => 'links')");

sub hash_of
{
	my ($n) = @_;
	return sprintf('0x%064x', $n);
}

sub extend
{
	my ($number, $document, $tables) = @_;

	$document->{header} //= {};
	$document->{header} = {
		number => $number,
		hash => hash_of(1000 + $number),
		parentHash => hash_of(999 + $number),
		timestamp => 1700000000 + $number,
		%{ $document->{header} }
	};
	my $text = $json->encode($document);
	return defined $tables
		? "SELECT hotblocks.extend('part', ARRAY[\$doc\$$text\$doc\$], '$tables')"
		: "SELECT hotblocks.extend('part', \$doc\$$text\$doc\$)";
}
my $address = '0x' . 'ab' x 20;

query(extend(1, {}));
is(query("SELECT count(*) FROM hotblocks.coverage WHERE dataset = 'part' AND table_name <> 'blocks'"),
	'0', 'a boundary header says nothing of items');
query(extend(2, {}, '{logs,transactions}'));
is( query(q(SELECT string_agg(table_name || ' ' || from_block || '-' || to_block, ', ' ORDER BY table_name)
		FROM hotblocks.coverage WHERE dataset = 'part' AND table_name <> 'blocks')),
	'logs 2-2, transactions 2-2', 'tables that the call names have none');

query(extend(3, {
	logs => [
		{ logIndex => 7, transactionIndex => 4, address => $address, topics => [ hash_of(1) ] },
		{ logIndex => 9, transactionIndex => 6, address => $address, topic0 => undef, topic1 => undef,
			transactionHash => hash_of(66), data => '0x' } ] }));
is( query(q(SELECT string_agg(concat_ws(',', log_index, transaction_index, right(encode(topic0, 'hex'), 1),
			right(encode(transaction_hash, 'hex'), 2), encode(data, 'hex') || '!'), ' ' ORDER BY log_index)
		FROM part.logs WHERE block_number = 3)),
	'7,4,1 9,6,42,!', 'logs without their transactions');
is( query(q(SELECT string_agg(column_name || ' ' || from_block || '-' || to_block, ', ' ORDER BY column_name)
		FROM hotblocks.incomplete_columns WHERE dataset = 'part' AND table_name = 'logs')),
	'data 3-3, transaction_hash 3-3', 'and what they lack');
query(extend(4, { transactions => [ { transactionIndex => 5, hash => hash_of(55), sighash => '0x01020304',
	from => $address } ] }));
is( query(q(SELECT encode(sighash, 'hex') || coalesce(encode(input, 'hex'), ' NULL') FROM part.transactions)),
	'01020304 NULL', 'a sighash without its input');
is( query(q(SELECT count(*) FROM part.transactions WHERE sighash = '\x01020304')), '1', 'and it is found');
is( query(q(SELECT string_agg(column_name, ' ' ORDER BY column_name) FROM hotblocks.incomplete_columns
		WHERE dataset = 'part' AND table_name = 'transactions' AND column_name IN ('from', 'hash', 'input', 'sighash', 'value'))),
	'input value', 'columns of transactions');
query(extend(5, { traces => [
	{ transactionIndex => 0, traceAddress => [], type => 'call', action => { callType => 'staticcall', sighash => '0xaabbccdd' } },
	{ transactionIndex => 0, traceAddress => [0], type => 'call', error => 'Reverted', action => { to => $address }, result => undef } ] }));
is( query(q(SELECT string_agg(concat_ws(',', trace_address::text, call_type, encode(call_sighash, 'hex'), error), ' ' ORDER BY trace_address)
		FROM part.traces)), '{},staticcall,aabbccdd {0},Reverted', 'traces in part');
is( query(q(SELECT count(*) FROM hotblocks.incomplete_columns WHERE dataset = 'part' AND table_name = 'traces'
		AND column_name LIKE 'create%')), '0', 'a call lacks nothing of a creation');
query(extend(6, { stateDiffs => [
	{ transactionIndex => 1, address => $address, key => 'balance', kind => '*', prev => '0x1', next => '0x0' },
	{ transactionIndex => 1, address => $address, key => '0x5', kind => '+', next => '0x7' },
	{ transactionIndex => 1, address => $address, key => 'code', kind => '=' } ] }));
is( query(q(SELECT string_agg(concat_ws(',', right(key, 7), kind, encode(prev, 'hex'), encode(next, 'hex')), ' ' ORDER BY key)
		FROM part.state_diffs)),
	'0000005,+,' . '0' x 63 . '7 balance,*,01,00', 'state diffs');

# Nonsense is refused, with its place
my @bad = (
	[ { logs => [ { transactionIndex => 0, address => $address } ] }, qr/logs\[0\].logIndex" is missing/ ],
	[ { logs => [ { logIndex => 0, address => $address } ] }, qr/logs\[0\].transactionIndex" is missing/ ],
	[ { logs => [ { logIndex => 0, transactionIndex => 0 } ] }, qr/logs\[0\].address" is missing/ ],
	[ { logs => {} }, qr/"logs"/ ],
	[ { logs => [ { logIndex => 0, transactionIndex => 0, address => $address, topics => [], topic0 => undef } ] },
		qr/logs\[0\].topic0"/ ],
	[ { transactions => [ { hash => hash_of(1) } ] }, qr/transactions\[0\].transactionIndex" is missing/ ],
	[ { transactions => [ { transactionIndex => 1 } ] }, qr/transactions\[0\].hash" is missing/ ],
	[ { transactions => [ { transactionIndex => 1, hash => hash_of(1) }, { transactionIndex => 1, hash => hash_of(2) } ] },
		qr/transactions\[1\]/ ],
	[ { transactions => [ { transactionIndex => 0, hash => hash_of(1) } ],
			logs => [ { logIndex => 0, transactionIndex => 0, address => $address, topics => [], transactionHash => hash_of(2) } ] },
		qr/logs\[0\].transactionHash"/ ],
	[ { traces => [ { transactionIndex => 0, traceAddress => [], type => 'jump', action => {} } ] }, qr/traces\[0\].type"/ ],
	[ { traces => [ { transactionIndex => 0, type => 'call', action => {} } ] }, qr/traces\[0\].traceAddress" is missing/ ],
	[ { traces => [ { traceAddress => [], type => 'call', action => {} } ] }, qr/traces\[0\].transactionIndex" is missing/ ],
	[ { stateDiffs => [ { transactionIndex => 0, address => $address, key => 'balance', kind => '?' } ] }, qr/stateDiffs\[0\].kind"/ ],
	[ { stateDiffs => [ { transactionIndex => 0, address => $address, key => 'colour', kind => '+' } ] }, qr/stateDiffs\[0\].key"/ ],
	[ { header => { hash => undef } }, qr/header.hash" is missing/ ],
	[ { header => { parentHash => hash_of(1) } }, qr/conflicts/ ],
	[ { receipts => [] }, qr/"receipts"/ ],
	[ { block => {} }, qr/"block"/ ]);

foreach my $case (@bad)
{
	my ($document, $expected) = @$case;
	my $error = failure(extend(7, $document));
	like($error, $expected, 'refused: ' . $json->encode($document));
	like($error, qr/^HB00[12] /, 'with an SQLSTATE of its own');
}
is(query("SELECT (hotblocks.status('part')).head"), '6', 'nothing of that came in');

$node->stop;
done_testing();
