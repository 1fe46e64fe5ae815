// SPDX-License-Identifier: PostgreSQL
// The contracts of the sample chain: small, and each there for the shape of
// the blocks that its calls leave behind.
pragma solidity ^0.8.0;

// ERC-20, as far as its events and failures go.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientBalance(address owner, uint256 balance, uint256 needed);

    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory symbol_, address owner, uint256 supply) {
        symbol = symbol_;
        totalSupply = supply;
        balanceOf[owner] = supply;
        emit Transfer(address(0), owner, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "allowance too low");
        if (allowed != type(uint256).max)
            allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal {
        if (balanceOf[from] < value)
            revert InsufficientBalance(from, balanceOf[from], value);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// ERC-721: the token id is an indexed topic, so Transfer has topic3.
contract Collectible {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    mapping(uint256 => address) public ownerOf;
    mapping(uint256 => address) public approved;
    mapping(address => mapping(address => bool)) public operators;
    uint256 public minted;

    function mint(address to) external returns (uint256 id) {
        id = ++minted;
        ownerOf[id] = to;
        emit Transfer(address(0), to, id);
    }

    function approve(address to, uint256 id) external {
        require(ownerOf[id] == msg.sender, "not the owner");
        approved[id] = to;
        emit Approval(msg.sender, to, id);
    }

    function setApprovalForAll(address operator, bool yes) external {
        operators[msg.sender][operator] = yes;
        emit ApprovalForAll(msg.sender, operator, yes);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf[id] == from, "not the owner");
        require(
            msg.sender == from || approved[id] == msg.sender || operators[from][msg.sender],
            "not approved"
        );
        delete approved[id];
        ownerOf[id] = to;
        emit Transfer(from, to, id);
    }
}

// A pool that holds two tokens and changes one for the other one to one.
contract Pool {
    event Swap(address indexed sender, uint256 amount, bool forward);

    Token public a;
    Token public b;

    constructor(Token a_, Token b_) {
        a = a_;
        b = b_;
    }

    function swap(address payer, uint256 amount, bool forward) external {
        (Token inn, Token out) = forward ? (a, b) : (b, a);
        inn.transferFrom(payer, address(this), amount);
        out.transfer(payer, amount);
        emit Swap(payer, amount, forward);
    }
}

// Calls pools that call tokens, and outlives those calls that fail.
contract Router {
    event Routed(address indexed who, uint256 done, uint256 failed);

    function route(Pool[] calldata pools, uint256 amount) external {
        uint256 done;
        uint256 failed;
        for (uint256 i = 0; i < pools.length; i++) {
            try pools[i].swap(msg.sender, amount, i % 2 == 0) {
                done++;
            } catch {
                failed++;
            }
        }
        emit Routed(msg.sender, done, failed);
    }
}

// What a Vault does, run in a Vault's own storage by delegatecall.
contract VaultLogic {
    event Deposited(address indexed from, uint256 value);
    event Withdrawn(address indexed to, uint256 value);

    mapping(address => uint256) public deposits;

    function deposit() external payable {
        deposits[msg.sender] += msg.value;
        emit Deposited(msg.sender, msg.value);
    }

    function withdraw(uint256 value) external {
        require(deposits[msg.sender] >= value, "deposit too low");
        deposits[msg.sender] -= value;
        (bool ok, ) = payable(msg.sender).call{value: value}("");
        require(ok, "not taken");
        emit Withdrawn(msg.sender, value);
    }
}

contract Vault {
    mapping(address => uint256) private deposits;
    address private immutable logic;

    constructor(address logic_) {
        logic = logic_;
    }

    fallback() external payable {
        (bool ok, bytes memory answer) = logic.delegatecall(msg.data);
        if (!ok)
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        assembly {
            return(add(answer, 32), mload(answer))
        }
    }

    receive() external payable {}
}

// Dies when told to, and sends what it holds to whoever told it.
contract Disposable {
    constructor() payable {}

    function dispose(address payable to) external {
        selfdestruct(to);
    }
}

// A constructor that always fails.
contract Stillborn {
    constructor() payable {
        revert("stillborn");
    }
}

// Creates contracts, with CREATE and CREATE2, a failed one too.
contract Factory {
    event Created(address indexed child, bool indexed salted);

    function create() external payable returns (address child) {
        child = address(new Disposable{value: msg.value}());
        emit Created(child, false);
    }

    function create2(bytes32 salt) external payable returns (address child) {
        child = address(new Disposable{salt: salt, value: msg.value}());
        emit Created(child, true);
    }

    function createToken(string calldata symbol) external returns (Token child) {
        child = new Token(symbol, msg.sender, 1e24);
        emit Created(address(child), false);
    }

    function createStillborn() external returns (bool) {
        try new Stillborn() {
            return true;
        } catch {
            return false;
        }
    }

    function createAndDispose(address payable to) external payable {
        Disposable child = new Disposable{value: msg.value}();
        emit Created(address(child), false);
        child.dispose(to);
    }
}

// Odd logs, odd failures, precompiles, and recursion.
contract Oddities {
    event Words(uint256[] words);
    event Named(string indexed name, bytes data);
    event Four(uint256 indexed a, int256 indexed b) anonymous;

    uint256 public last;

    function bare(uint256 n) external {
        assembly {
            for { let i := 0 } lt(i, n) { i := add(i, 1) } { log0(0, 0) }
        }
    }

    function three(uint256 a, int256 b) external {
        emit Four(a, b);
        assembly {
            log4(0, 33, 1, 0, not(0), shl(255, 1))
        }
    }

    function words(uint256 n) external {
        uint256[] memory w = new uint256[](n);
        for (uint256 i = 0; i < n; i++)
            w[i] = uint256(keccak256(abi.encode(i, n)));
        emit Words(w);
    }

    function named(string calldata name, bytes calldata data) external {
        emit Named(name, data);
    }

    // what: 0 panic, 1 invalid opcode, 2 empty revert, 3 all the gas,
    // 4 a message that is not UTF-8, 5 division by zero
    function fail(uint256 what) external {
        last = what;
        if (what == 0)
            assert(false);
        else if (what == 1)
            assembly {
                invalid()
            }
        else if (what == 2)
            assembly {
                revert(0, 0)
            }
        else if (what == 3)
            while (true)
                last++;
        else if (what == 4)
            assembly {
                mstore(0, shl(224, 0x08c379a0))
                mstore(4, 32)
                mstore(36, 4)
                mstore(68, shl(224, 0xff00fe41))
                revert(0, 100)
            }
        else
            last = 1 / (what - 5);
    }

    function recurse(uint256 depth) external returns (uint256) {
        if (depth == 0)
            return 0;
        return 1 + this.recurse(depth - 1);
    }

    function hash(bytes calldata data) external returns (bytes32) {
        last = uint256(sha256(data)) ^ uint256(uint160(ripemd160(data)));
        return keccak256(data);
    }

    receive() external payable {
        revert("not payable here");
    }
}
