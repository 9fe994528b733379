// Package limits is the one table of limits and durations that a request or a
// background task of the server meets. Code takes its values from here, and
// docs/limits.md is generated from the declarations and their comments. A
// comment that ends with "Setting: NAME." names the setting that overrides the
// value.
package limits

import "time"

//go:generate go test -run TestPageIsCurrent -update .

// Connections.
const (
	// Header is how long a client may take to send the request header.
	Header = 5 * time.Second
	// Read is how long a client may take for the header and the start of the body; each part of the body that arrives adds time. Setting: read-timeout.
	Read = 30 * time.Second
	// Write is how long a client may take to receive a response. Setting: write-timeout.
	Write = time.Minute
	// Idle is how long a connection stays open without a request. Setting: idle-timeout.
	Idle = 2 * time.Minute
	// ListenQueue is how long connections in the listener's queue have to be accepted during a shutdown.
	ListenQueue = 100 * time.Millisecond
	// RefusedConnection is how long a connection over the limit may take to read why it is refused.
	RefusedConnection = time.Second
	// RefusedConnections is how many connections over the limit are told why at once; the others are closed.
	RefusedConnections = 64
	// ShutdownDelay is how long the server still accepts connections after it reports that it is not ready. Setting: shutdown-delay.
	ShutdownDelay = time.Second
	// ShutdownGrace is how long running requests may take during a shutdown. Setting: shutdown-grace.
	ShutdownGrace = 25 * time.Second
	// SlowBodyNotice is how long a body may take before the time for its response starts again.
	SlowBodyNotice = 500 * time.Millisecond
	// BodyPause is how long the server may not read from a body before that time is added to the client's.
	BodyPause = time.Second
	// Connections is how many connections may be open. Setting: max-connections.
	Connections = 16384
	// ConnectionsPerSource is how many of them may be of one address. Setting: max-connections-per-source.
	ConnectionsPerSource = 8192
	// HeaderBytes is the longest request header.
	HeaderBytes = 32 << 10
)

// Requests.
const (
	// Request is how long a request may take from its last byte to its response. The waits of the database below fit into it.
	Request = 30 * time.Second
	// RequestSpare is what everything around the database takes at most.
	RequestSpare = 5 * time.Second
	// RequestWait is how long a request waits to be admitted; then it is refused with 503.
	RequestWait = time.Second
	// EarlyRetryHold is how long a client that ignores Retry-After waits for its next answer on the same connection, at most.
	EarlyRetryHold = time.Second
	// BodyGrace is how long an admitted request waits for its body; then it is counted again when the body has arrived.
	BodyGrace = 200 * time.Millisecond
	// BodyWait is how long a body waits for memory; then the request is refused with 503.
	BodyWait = 2 * time.Second
	// BodiesWaiting is how many small and how many large bodies may wait for memory.
	BodiesWaiting = 1024
	// LongBodyRest is the longest that the limit for long bodies stays reserved after one, while other organisations are active.
	LongBodyRest = 5 * time.Second
	// UnreadBody is how long the rest of a refused body is read, so that the client sees the response.
	UnreadBody = 20 * time.Second
	// UnreadAnonymousTime is the same for an unauthenticated client.
	UnreadAnonymousTime = 5 * time.Second
	// UnaskedBody is how long a connection stays open after a client that asked first (Expect: 100-continue) was refused.
	UnaskedBody = 500 * time.Millisecond
	// ListsEach is how many lists an organisation may read at once; over it: 429.
	ListsEach = 8
	// ListsAll is how many lists are sent at once; over it: 503.
	ListsAll = 64
	// AccountStreamsEach is how many streams of whole accounts an organisation may read at once; over it: 429.
	AccountStreamsEach = 2
	// AccountStreamsAll is how many streams of whole accounts are sent at once; over it: 503.
	AccountStreamsAll = 16
	// EventWaitsEach is how many requests of an organisation may wait for events; over it: 429.
	EventWaitsEach = 32
	// EventWaitsAll is how many requests may wait for events; over it: 503.
	EventWaitsAll = 4096
	// EventWait is the longest that a request may ask to wait for events.
	EventWait = 60 * time.Second
	// EventWaitCheck is how often the API key of a request that waits for events is checked again.
	EventWaitCheck = 5 * time.Second
	// LimitWait is how long lists, bulk requests and requests for events wait for another one to end.
	LimitWait = 2 * time.Second
	// ListChunk is how long a client may take to read one part of a list.
	ListChunk = 5 * time.Second
	// List is how long a whole list may take.
	List = 15 * time.Minute
	// KeyRecheck is after how long the API key of a running request is checked again.
	KeyRecheck = 3 * time.Second
	// ReadyCache is how long the answer of a readiness probe is reused.
	ReadyCache = time.Second
	// ReadyWait is how long the check behind a readiness probe waits for the database.
	ReadyWait = 2 * time.Second
	// ReadyAnswer is how long a readiness probe waits for that check; then the answer is that the database does not respond.
	ReadyAnswer = 900 * time.Millisecond
	// ReadyProof is how long a commit proves that the database works while too much is waiting for another one.
	ReadyProof = 5 * time.Second
	// DatabaseRetry is the Retry-After when the database is unavailable or too busy: long enough to relieve it, short enough not to delay a migration.
	DatabaseRetry = 2 * time.Second
	// Body is the largest request body, and the longest line of a bulk request. Setting: max-body.
	Body = 10 << 20
	// BodyMemory is the memory for request bodies. Setting: body-memory.
	BodyMemory = 48 << 20
	// BodyRate is how many bytes of a large body must arrive in a second. Setting: body-rate.
	BodyRate = 32 << 10
	// SmallBody is the largest body that counts as small when memory is shared.
	SmallBody = 64 << 10
	// LongBody is the length from which bodies have a limiter of their own, because parsing them takes noticeable time.
	LongBody = 32 << 10
	// UnreadAnonymousBody is how much of a refused body is read from a client without a valid token.
	UnreadAnonymousBody = 1 << 20
	// GraphQLBody is the largest GraphQL request.
	GraphQLBody = 64 << 10
	// GraphQLDocument is the longest GraphQL document.
	GraphQLDocument = 8 << 10
	// GraphQLIntrospection is the same where introspection is allowed.
	GraphQLIntrospection = 16 << 10
)

// Bulk requests.
const (
	// BulkDatabaseWait is how long a bulk request waits for the database while none of its lines gets on.
	BulkDatabaseWait = 15 * time.Second
	// BulkQuotaWait is how long a line waits where a single call would get 429.
	BulkQuotaWait = 2 * time.Minute
	// BulkFirstRetry is the pause before a line is tried again; it doubles each time.
	BulkFirstRetry = 20 * time.Millisecond
	// BulkMaxRetry is the longest such pause.
	BulkMaxRetry = time.Second
	// BulkNextLine is how long a batch waits for its next line.
	BulkNextLine = time.Millisecond
	// BulkBatch is how long a batch waits for lines in all.
	BulkBatch = 10 * time.Millisecond
	// BulkRest is the longest that bulk work rests after a batch while single calls arrive.
	BulkRest = 50 * time.Millisecond
	// BulkLongLines is how many lines over 128 KiB are in memory at once.
	BulkLongLines = 4
	// BulkLongLinesEach is how many of them may be of one organisation.
	BulkLongLinesEach = 2
	// BulkBlankLines is how many blank lines may follow each other.
	BulkBlankLines = 1_000
	// BulkDrain is how long the rest of a stopped request is read.
	BulkDrain = time.Minute
	// BulkDrainAtShutdown is the same during a shutdown.
	BulkDrainAtShutdown = 8 * time.Second
	// BulkDrainIdle is how long that waits without a byte.
	BulkDrainIdle = 3 * time.Second
	// BulkSpoolWait is how long a full spool waits for a client that does not read.
	BulkSpoolWait = 10 * time.Second
	// BulkWatch is how often a bulk request is checked.
	BulkWatch = 200 * time.Millisecond
	// BulkKeyCheck is how long checking its API key may take.
	BulkKeyCheck = 3 * time.Second
	// BulkIdle is how long a client may neither send nor read.
	BulkIdle = 30 * time.Second
	// BulkActivity is how long after a single call another one is expected.
	BulkActivity = 2 * time.Second
	// BulkIdleMachine is how long after the last single call bulk requests and runs may use all processors.
	BulkIdleMachine = 30 * time.Second
	// BulkSpool is how many bytes of results that clients have not read are stored on disk. Setting: bulk-spool-size.
	BulkSpool = 4 << 30
	// BulkResults is how many bytes of results of one request wait in memory.
	BulkResults = 1 << 20
	// BulkBytes is how many bytes of lines of one request are in progress at once.
	BulkBytes = 6 << 20
	// BulkLongLine is the length from which a line counts as long.
	BulkLongLine = 128 << 10
)

// Database.
const (
	// DatabaseConnections is how many connections to PostgreSQL are open: half to write, a sixth to look up commits, the rest to read. Setting: database-connections.
	DatabaseConnections = 24
	// DatabaseWait is how long the start waits for the database. Setting: database-wait.
	DatabaseWait = 30 * time.Second
	// QueueWait is how long a call waits for its turn; then it is refused and nothing was tried.
	QueueWait = 2 * time.Second
	// QueueEstimate is how long a call may be expected to wait, at the recent throughput; over it, it is refused at once.
	QueueEstimate = time.Second
	// Transaction is how long a transaction may take before its commit, with all repetitions, and a read from SQLite.
	Transaction = 12 * time.Second
	// Commit is how long to wait for the answer to a commit. A commit is never cancelled: then its outcome is looked up.
	Commit = 3 * time.Second
	// CommitLookup is how long looking up a lost commit may take; then its outcome is unknown.
	CommitLookup = 2 * time.Second
	// CommitLookupRetry is the pause between two attempts of that.
	CommitLookupRetry = 100 * time.Millisecond
	// SchemaStepRetry is the pause after a schema step that ran into a deadlock; it grows with every attempt.
	SchemaStepRetry = 200 * time.Millisecond
	// CommitMarks is how long the marks are kept by which commits are looked up.
	CommitMarks = 15 * time.Minute
	// CommitMarkSweep is how often old marks are deleted.
	CommitMarkSweep = time.Minute
	// DatabaseSilence is how long a server may send nothing before its connection is closed.
	DatabaseSilence = 9 * time.Second
	// Statement is when PostgreSQL ends a statement.
	Statement = 8 * time.Second
	// Lock is how long a statement that runs alone waits for a lock; on SQLite, for another process.
	Lock = 5 * time.Second
	// DatabaseConnect is how long opening a connection may take.
	DatabaseConnect = 3 * time.Second
	// CommandConnect is how long opening a connection may take in a command, which serves no requests.
	CommandConnect = 10 * time.Second
	// BatchLock is how long a batch waits for a lock; then its calls run one by one.
	BatchLock = 100 * time.Millisecond
	// SingleLock is how long each of those waits; then it is set aside to wait for Lock.
	SingleLock = 20 * time.Millisecond
	// GroupCommit is how long SQLite collects batches for one commit.
	GroupCommit = 20 * time.Millisecond
	// Gather is how long a worker waits after a burst until most callers are back.
	Gather = time.Millisecond
	// DatabaseIdle is how long an unused connection to PostgreSQL stays open.
	DatabaseIdle = 5 * time.Minute
	// ConflictRetry is half of the longest pause before a transaction runs again after a conflict; it doubles each time.
	ConflictRetry = 10 * time.Millisecond
	// LockFilePoll is how often a lock that another process holds is tried again.
	LockFilePoll = 50 * time.Millisecond
	// CountRetry is the pause before a claim under a concurrency limit is counted again, while another transaction counts.
	CountRetry = 4 * time.Millisecond
	// AuthorTrust is how long the store trusts that the author of a write has not been revoked.
	AuthorTrust = time.Second
	// DatabaseOpenRetry is the pause before opening the database is tried again at the start; it doubles each time.
	DatabaseOpenRetry = 100 * time.Millisecond
	// DatabaseOpenMaxRetry is the longest such pause.
	DatabaseOpenMaxRetry = 2 * time.Second
)

// Sign-in and API keys.
const (
	// KeyCache is how long a checked API key is cached.
	KeyCache = 50 * time.Millisecond
	// SessionCache is how long the console session of a live page is cached. Other pages look it up every time.
	SessionCache = 500 * time.Millisecond
	// CacheLoad is how long loading a cached value may take.
	CacheLoad = 5 * time.Second
	// SupplierCache is how long a supplier's settings are cached.
	SupplierCache = 50 * time.Millisecond
	// FailedKeysPerSource is how many invalid API keys one address may send at once; over it: 429.
	FailedKeysPerSource = 20
	// FailedKeyPerSourceEvery is after how long it may send one more.
	FailedKeyPerSourceEvery = 3 * time.Second
	// FailedKeysPerKey is how many invalid secrets may be sent for one key, from any address.
	FailedKeysPerKey = 10
	// FailedKeyPerKeyEvery is after how long one more may be sent.
	FailedKeyPerKeyEvery = 6 * time.Second
	// FailedKeysPerSite is how many invalid API keys an IPv6 /48 network may send at once.
	FailedKeysPerSite = 80
	// FailedKeyPerSiteEvery is after how long it may send one more.
	FailedKeyPerSiteEvery = time.Second
	// SignInsPerSource is how many sign-ins to the console one IPv4 address or IPv6 /64 network may try at once; over it: 429. Operators at an address or in a browser that they used before do not count.
	SignInsPerSource = 20
	// SignInPerSourceEvery is after how long it may try once more.
	SignInPerSourceEvery = 3 * time.Second
	// SignInsPerSite is how many an IPv6 /48 network may try at once.
	SignInsPerSite = 80
	// SignInPerSiteEvery is after how long it may try once more.
	SignInPerSiteEvery = time.Second
	// SignInsPerName is how many may be tried at once with one name, from addresses where that operator is not known.
	SignInsPerName = 30
	// SignInsPerPair is how many may be tried at once with one name from one address, or in one browser.
	SignInsPerPair = 10
	// SignInEvery is after how long one more may be tried with a name.
	SignInEvery = 10 * time.Second
	// PasswordWait is how long a sign-in waits for its password to be checked; then it is refused with 429. One password of operators who are known and one of others is checked at a time.
	PasswordWait = 5 * time.Second
	// PasswordsWaiting is how many sign-ins may wait for that, of operators who are known and of others.
	PasswordsWaiting = 64
	// WrongCodes is how many wrong codes of a second factor are accepted before the next one has to wait. A right password is needed to try.
	WrongCodes = 5
	// CodePause is how long codes are refused after one more wrong code; it doubles each time.
	CodePause = time.Minute
	// LongestCodePause is the longest such pause.
	LongestCodePause = 12 * time.Hour
	// PendingSecondFactor is how long a new second factor can be confirmed.
	PendingSecondFactor = 10 * time.Minute
	// Device is how long a browser is remembered in which an operator signed in.
	Device = 180 * 24 * time.Hour
	// RefusedSignIns is the time within which refused sign-ins of one operator are one entry of the audit.
	RefusedSignIns = 10 * time.Minute
	// AccessToken is how long an access token is valid. Setting: access-token-life.
	AccessToken = time.Hour
	// RefreshToken is how long a refresh token is valid. Setting: refresh-token-life.
	RefreshToken = 7 * 24 * time.Hour
	// Login is how long tokens can be refreshed after a login. Setting: login-life.
	Login = 30 * 24 * time.Hour
	// ConsoleIdle is after how long without a request a console session ends. Setting: console-idle.
	ConsoleIdle = time.Hour
	// ConsoleSession is how long a console session lasts. Setting: console-session.
	ConsoleSession = 12 * time.Hour
	// Invitation is how long an invitation to the console is valid.
	Invitation = 72 * time.Hour
	// TellOperator is how long the console waits for the mail server when an operator is told about a reset.
	TellOperator = 15 * time.Second
	// Passkeys is how many passkeys an operator can have.
	Passkeys = 10
	// PasskeyChallenges is how many sign-ins and registrations with a passkey can be under way.
	PasskeyChallenges = 10_000
	// SetUpLink is how long the link for creating the first operator is valid.
	SetUpLink = 24 * time.Hour
)

// Creating accounts.
const (
	// ClaimLease is how long a claimed process stays with a caller that does not finish it. Setting: claim-lease.
	ClaimLease = time.Minute
	// ReleaseClaim is how long releasing a claim may take, even if the caller is gone.
	ReleaseClaim = 5 * time.Second
	// CreationRetry is the Retry-After when too many accounts are being created at once.
	CreationRetry = time.Second
	// CreationInterest is how long an organisation that asked to create an account counts when the places are divided.
	CreationInterest = 5 * time.Second
	// Document is how long looking up a document may take. Setting: document-timeout.
	Document = 5 * time.Second
	// FileStoreRetry is the Retry-After when the file store is unavailable.
	FileStoreRetry = 5 * time.Second
	// Vendor is how long verifying a payment instruction may take, with retries. Setting: vendor-timeout.
	Vendor = 10 * time.Second
	// VendorRequests is how many requests to one payment vendor run at once.
	VendorRequests = 256
	// VendorRequestsEach is how many of them may be of one organisation.
	VendorRequestsEach = 16
	// VendorRequestsWaiting is how many requests of one organisation may wait for that, for a quarter of Vendor at most.
	VendorRequestsWaiting = 64
	// VendorPause is how long a vendor that fails is not asked.
	VendorPause = 30 * time.Second
	// VendorOutOfService is after how long such failures count as permanent.
	VendorOutOfService = 5 * time.Minute
	// VendorFirstRetry is the pause before a vendor is asked again.
	VendorFirstRetry = 200 * time.Millisecond
	// VendorMaxRetry is the longest such pause.
	VendorMaxRetry = 2 * time.Second
	// VendorMaxRetryAfter is the longest Retry-After of a vendor that is obeyed.
	VendorMaxRetryAfter = 5 * time.Minute
	// OutboundConnect is how long connecting to any other server may take.
	OutboundConnect = 3 * time.Second
	// UndoWindow is how long after its creation an account can be undone, unless the supplier's settings say otherwise.
	UndoWindow = 72 * time.Hour
	// LongestMailDelay is the longest delay between the creation of an account and its e-mail.
	LongestMailDelay = 90 * 24 * time.Hour
	// KeepRuns is how long the accounts and failures of a run are kept after it has ended, unless its supplier says otherwise.
	KeepRuns = 90 * 24 * time.Hour
	// VendorBusyRetry is the Retry-After when an organisation has too many requests to a vendor.
	VendorBusyRetry = time.Second
	// VendorFailureWindow is the time over which failures of a vendor are counted.
	VendorFailureWindow = time.Minute
	// VendorBankAccount is how long reading the last digits of a bank account may take; they are optional.
	VendorBankAccount = 2 * time.Second
	// VendorReply is how much of a reply of a vendor is read.
	VendorReply = 256 << 10
	// BucketCheck is how long a bucket is assumed to exist after a check.
	BucketCheck = time.Minute
	// OutboundIdle is how long an unused connection to any other server stays open.
	OutboundIdle = time.Minute
	// OutboundKeepAlive is how often TCP checks an idle connection to any other server.
	OutboundKeepAlive = 30 * time.Second
	// OutboundHeader is the longest response header of any other server.
	OutboundHeader = 64 << 10
	// UndoRetry is the pause before an account of a run is undone again after a failure.
	UndoRetry = 200 * time.Millisecond
	// MaxUndoWindow is the longest undo window and retention that can be set.
	MaxUndoWindow = 3650 * 24 * time.Hour
)

// Packs of fields.
const (
	// PackBytes is how large the file of a pack may be.
	PackBytes = 512 << 10
	// PackObjects is how many objects a pack may declare.
	PackObjects = 300
	// PackFields is how many fields a pack may declare.
	PackFields = 3000
	// PackRules is how many rules a pack may have.
	PackRules = 500
	// PackObjectRules is how many rules of a pack one object may have.
	PackObjectRules = 32
	// PackRuleFields is how many fields a rule of a pack may name.
	PackRuleFields = 16
	// PackChoices is how many choices a field may have.
	PackChoices = 1000
	// PackText is the length of a text without a length of its own, and the longest that may be declared.
	PackText = 20_000
	// PackLine is the length of a line without a length of its own.
	PackLine = 255
	// PackItems is how many items a list of a pack may have.
	PackItems = 10_000
	// PackInteger is the largest integer of a field without limits of its own.
	PackInteger = 1_000_000_000_000_000
	// PacksPerSupplier is how many packs a supplier may use.
	PacksPerSupplier = 8
)
