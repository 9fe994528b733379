package limits

import "time"

// Runs.
const (
	// RunPoll is how often a server looks for runs, unless it is told of one.
	RunPoll = 500 * time.Millisecond
	// RunLease is how long a slice of a run stays with a worker that does not report. Setting: claim-lease.
	RunLease = time.Minute
	// RunTimeSlice is how long a worker stays with a slice.
	RunTimeSlice = 2 * time.Second
	// RunYield is the longest that runs rest after a batch while single calls arrive.
	RunYield = 50 * time.Millisecond
	// RunTurn is after how long a slow batch lets the next one start while single calls arrive.
	RunTurn = 100 * time.Millisecond
	// RunQuotaPause is how long a worker waits where quotas are used up.
	RunQuotaPause = 250 * time.Millisecond
	// RunEmpty is how long a run without free slices is not asked again.
	RunEmpty = 200 * time.Millisecond
	// RunFirstRetry is the pause after a slice whose accounts failed; it doubles each time.
	RunFirstRetry = time.Second
	// RunMaxRetry is the longest such pause.
	RunMaxRetry = time.Minute
	// RunDatabaseRetry is the longest pause of a worker while the database is unavailable.
	RunDatabaseRetry = time.Second
	// RunShutdown is how long running batches may take during a shutdown.
	RunShutdown = 10 * time.Second
	// RunStopWait is how long a request to stop a run waits for running batches.
	RunStopWait = 5 * time.Second
	// RunStalled is how long a run may finish nothing before it counts as stalled.
	RunStalled = time.Minute
	// RunStopPoll is how often that request looks whether the run has stopped.
	RunStopPoll = 50 * time.Millisecond
	// RunBatchBytes is how many bytes of documents a batch of a run has at most.
	RunBatchBytes = 4 << 20
)

// Background tasks.
const (
	// QuotaFlush is how often the bytes that organisations sent are stored.
	QuotaFlush = 5 * time.Second
	// KeyUseFlush is how often the last use of API keys is stored.
	KeyUseFlush = time.Minute
	// LastFlush is how long storing both may take at shutdown.
	LastFlush = 5 * time.Second
	// TokenSweep is how often expired tokens are deleted.
	TokenSweep = 10 * time.Minute
	// Heartbeat is how often a server records that it is running.
	Heartbeat = 10 * time.Second
	// ClockCheck is how often a server looks whether the database's clock was set.
	ClockCheck = 5 * time.Second
	// ClockSlack is how far the clock may be set back before leases and pauses move back with it.
	ClockSlack = 10 * time.Second
	// ClockReport is how far the clock must jump to be reported.
	ClockReport = time.Minute
	// AuditChain is how often the audit log is chained.
	AuditChain = 500 * time.Millisecond
	// AuditCheckpoint is how often a checkpoint of the audit log is signed. Setting: audit-checkpoint-every.
	AuditCheckpoint = time.Minute
	// SearchIndex is how often the search index is updated.
	SearchIndex = 2 * time.Second
	// CounterFold is how often counters are summed up.
	CounterFold = 2 * time.Second
	// PasswordCommand is how long the command that prints the database's password may take.
	PasswordCommand = 10 * time.Second
	// Purge is how often data past its retention is deleted.
	Purge = 6 * time.Hour
	// PurgePoll is how often a server looks whether a purge is due.
	PurgePoll = time.Minute
	// PurgeLease is how long a purge stays with a server that does not report.
	PurgeLease = 5 * time.Minute
	// Scrub is how long after checking all stored data a server begins again.
	Scrub = 24 * time.Hour
	// ScrubPause is the shortest pause between two steps of that.
	ScrubPause = 250 * time.Millisecond
	// ScrubSave is how often the position of that is stored.
	ScrubSave = 10 * time.Second
	// KeyWatch is how often a server looks for new encryption keys.
	KeyWatch = 20 * time.Second
	// UsageKept is how long daily usage is kept.
	UsageKept = 35 * 24 * time.Hour
	// RunSamples is how long the progress samples of runs are kept.
	RunSamples = 30 * 24 * time.Hour
	// MetricsAge is how old the figures of the database in the metrics may be.
	MetricsAge = 10 * time.Second
	// MetricsRead is how long reading them may take.
	MetricsRead = 5 * time.Second
	// CertificatePoll is how often the TLS certificate files are checked for changes.
	CertificatePoll = time.Second
	// HealthCheck is how long 'landfall health' and 'landfall doctor' wait for the server.
	HealthCheck = 5 * time.Second
	// ConsolePage is how long a page of the console may take.
	ConsolePage = 20 * time.Second
	// IdentityRequest is how long a request to the sign-in provider may take.
	IdentityRequest = 10 * time.Second
	// LogFlush is how often buffered log lines are written.
	LogFlush = 100 * time.Millisecond
	// RecordRetry is the pause before a result that could not be stored is stored again; it doubles each time.
	RecordRetry = 100 * time.Millisecond
	// RecordMaxRetry is the longest such pause.
	RecordMaxRetry = 5 * time.Second
	// TokenGrace is how long ended tokens are kept, so that a replica with a slow clock still finds them.
	TokenGrace = time.Hour
	// StartExtension is the time that a starting server asks systemd for, again and again until it is ready.
	StartExtension = 30 * time.Second
	// ReplicaSeen is how long a server counts as running after its last heartbeat.
	ReplicaSeen = time.Minute
	// MinRetention is the shortest retention that can be set.
	MinRetention = time.Hour
	// AuditChainWait is how long a command waits until its audit entries are chained.
	AuditChainWait = 2 * time.Second
	// AuditChainPoll is how often it looks.
	AuditChainPoll = 10 * time.Millisecond
	// AuditRound is how long chaining new entries may take.
	AuditRound = 10 * time.Second
	// AuditClockStep is how much older than the entry before it an audit entry may be.
	AuditClockStep = 5 * time.Minute
	// UpkeepDelay is how long after its start a server begins background work.
	UpkeepDelay = time.Second
	// UpkeepMaxRest is the longest rest between two steps of background work.
	UpkeepMaxRest = 5 * time.Second
	// TelemetryShutdown is how long the last traces and metrics may take during a shutdown.
	TelemetryShutdown = 3 * time.Second
	// TelemetryRequest is how long one request to the collector may take.
	TelemetryRequest = 10 * time.Second
	// TelemetryFirstRetry is the pause before an export is sent again; it doubles each time.
	TelemetryFirstRetry = 5 * time.Second
	// TelemetryMaxRetry is the longest such pause.
	TelemetryMaxRetry = 30 * time.Second
	// TelemetryGiveUp is after how long an export is given up.
	TelemetryGiveUp = time.Minute
	// TelemetryReply is how much of a reply of the collector is read.
	TelemetryReply = 64 << 10
	// LogRepeatSpan is the time in which repeated warnings are counted instead of logged.
	LogRepeatSpan = time.Minute
	// LogRepeats is how many equal warnings are logged in that time; the last of the others is logged at its end with their number.
	LogRepeats = 3
	// LogMessages is how many different warnings with the same message are logged in that time.
	LogMessages = 30
	// DatabaseWatch is how often a server checks that the database can be written to; a warning about the database lets it check at once.
	DatabaseWatch = 10 * time.Second
	// DatabaseWatchAgain is the pause between two checks while the database cannot be written to.
	DatabaseWatchAgain = time.Second
	// LogShutdown is how long a blocked log may delay a shutdown.
	LogShutdown = time.Second
	// LogMemory is how many bytes of log lines wait while they cannot be written; further ones are dropped.
	LogMemory = 4 << 20
)

// Webhooks and mail.
const (
	// Webhook is how long a delivery may take. Setting: webhook-timeout.
	Webhook = 10 * time.Second
	// WebhookLease is how long deliveries stay with a server that does not report. Setting: webhook-lease.
	WebhookLease = time.Minute
	// WebhookFirstRetry is the pause after the first failed delivery; it grows each time.
	WebhookFirstRetry = 5 * time.Second
	// WebhookMaxRetry is the longest such pause, and the longest Retry-After that is obeyed.
	WebhookMaxRetry = 4 * time.Hour
	// WebhookGiveUp is after how long a delivery is given up.
	WebhookGiveUp = 72 * time.Hour
	// EventPoll is how often the event log is read for new events.
	EventPoll = 100 * time.Millisecond
	// Mail is how long sending a mail may take. Setting: smtp-timeout.
	Mail = 30 * time.Second
	// MailPoll is how often a server looks for mails that are due.
	MailPoll = time.Second
	// MailFirstRetry is the pause after a mail could not be sent; it grows each time.
	MailFirstRetry = time.Minute
	// MailMaxRetry is the longest such pause.
	MailMaxRetry = 4 * time.Hour
	// MailGiveUp is after how long a mail is given up.
	MailGiveUp = 72 * time.Hour
	// WebhookTimeSlice is how long a worker stays with a webhook while others wait.
	WebhookTimeSlice = 5 * time.Second
	// WebhookPoll is how often a server looks for deliveries that are due.
	WebhookPoll = 2 * time.Second
	// WebhookFastRound is the duration below which a round gets more events the next time.
	WebhookFastRound = 500 * time.Millisecond
	// WebhookSlowRound is the duration above which a round gets fewer events the next time.
	WebhookSlowRound = 2 * time.Second
	// WebhookRecord is how long recording the result of a round may take.
	WebhookRecord = 10 * time.Second
	// WebhookRound is how long a round starts new deliveries.
	WebhookRound = 10 * time.Second
	// WebhookReply is how much of a response is read, so that its connection can be reused.
	WebhookReply = 64 << 10
	// FeedAccounts is how many bytes of accounts a page of the feed may have; the page ends with the event that exceeds it.
	FeedAccounts = 4 << 20
	// WebhookAccount is how long an account may be in an event of a webhook that includes it; over it: its address.
	WebhookAccount = 256 << 10
	// EventRequestPoll is how often the event log is read while a request waits for it to be complete.
	EventRequestPoll = 5 * time.Millisecond
	// EventWriters is how long such a request waits for open transactions; then it gets what is complete without them.
	EventWriters = time.Second
	// EventRead is how long reading the event log may take.
	EventRead = 5 * time.Second
	// ClaimRetry is the pause after deliveries or mails could not be claimed; it grows each time.
	ClaimRetry = time.Second
	// ClaimMaxRetry is the longest such pause.
	ClaimMaxRetry = 10 * time.Second
	// MailServerRetry is the pause after the mail server could not be used; it grows each time.
	MailServerRetry = 5 * time.Second
	// MailServerMaxRetry is the longest such pause.
	MailServerMaxRetry = 5 * time.Minute
	// MailShutdown is how long a mail that is being sent may take during a shutdown.
	MailShutdown = 10 * time.Second
	// MailRecord is how long recording the result of a mail is tried.
	MailRecord = 30 * time.Second
	// MailCount is how often waiting mails are counted.
	MailCount = 15 * time.Second
	// MailAnnounce is how often a server records that it sends mail.
	MailAnnounce = time.Hour
	// MailAnnounceValid is how long such a record is valid.
	MailAnnounceValid = 26 * time.Hour
	// MailIdle is how long an unused session with the mail server stays open.
	MailIdle = 10 * time.Second
	// MailQuit is how long closing a session may take.
	MailQuit = time.Second
	// MailReplyLine is the longest line of a reply of the mail server.
	MailReplyLine = 4 << 10
	// MailTemplate is the largest file of a mail template.
	MailTemplate = 128 << 10
	// MailBody is the longest text that a template may produce.
	MailBody = 256 << 10
)

// Targets.
const (
	// Target is how long a request to a target may take.
	Target = 30 * time.Second
	// TargetPoll is how often a server looks for deliveries to targets.
	TargetPoll = 500 * time.Millisecond
	// TargetLease is how long deliveries to a target stay with a server that does not report.
	TargetLease = time.Minute
	// TargetFirstRetry is the pause after the first failed delivery; it grows each time.
	TargetFirstRetry = 2 * time.Second
	// TargetMaxRetry is the longest such pause. A delivery is never given up.
	TargetMaxRetry = 5 * time.Minute
	// TargetReply is how much of what a target says about a refusal is kept.
	TargetReply = 500
	// TargetSignature is how old a signature may be for the target that comes with the program.
	TargetSignature = 5 * time.Minute
	// TargetTakeBack is how long an undo waits for deliveries of the account that are under way.
	TargetTakeBack = 90 * time.Second
	// TargetTakeBackPoll is how often it looks.
	TargetTakeBackPoll = 50 * time.Millisecond
	// ShapeTime is how long a jq program may take for one document.
	ShapeTime = 2 * time.Second
	// ShapeStart is how long its process may take to start or end.
	ShapeStart = 5 * time.Second
	// ShapePoll is how often it checks its limits.
	ShapePoll = 5 * time.Millisecond
	// ShapeMemory is how many bytes it may use.
	ShapeMemory = 384 << 20
	// ShapeRuntime is how many bytes its process needs besides.
	ShapeRuntime = 256 << 20
	// ShapeStack is how many bytes of stack it may use.
	ShapeStack = 64 << 20
	// ShapeOutput is how many bytes it may give.
	ShapeOutput = 32 << 20
	// ShapeFrame is how many bytes it may get, and how many the target that comes with the program reads.
	ShapeFrame = 64 << 20
	// ShapeProgram is the longest jq program.
	ShapeProgram = 64 << 10
)

// The console.
const (
	// ConsoleLiveAge is how old the figures of a live page may be.
	ConsoleLiveAge = 900 * time.Millisecond
	// ConsoleLive is how often a live page is updated.
	ConsoleLive = time.Second
	// ConsoleStream is how long a live stream lasts; browsers reconnect by themselves.
	ConsoleStream = 10 * time.Minute
	// ConsoleCountWait is how long a page waits for a count before it shows the progress.
	ConsoleCountWait = 50 * time.Millisecond
	// ConsoleCountAge is how long a count may be shown.
	ConsoleCountAge = time.Minute
	// ConsoleAudit is how long a page may scan the audit log.
	ConsoleAudit = 5 * time.Second
	// ConsolePackFields is how many fields of packs the page of an account shows.
	ConsolePackFields = 200
	// CallerChecks is how many times what callers say may be compared with one account within CallerCheckWindow.
	CallerChecks = 5
	// CallerCheckWindow is how long a comparison with what a caller says counts.
	CallerCheckWindow = 10 * time.Minute
	// ConsolePackRecord is the largest record of which the page of an account shows the fields of packs.
	ConsolePackRecord = 2 << 20
	// ConsoleNote is the longest note that a page shows; longer ones are shown one by one.
	ConsoleNote = 64 << 10
	// ConsoleForm is the largest form.
	ConsoleForm = 64 << 10
	// IdentityResponse is the largest response of the sign-in provider.
	IdentityResponse = 1 << 20
)
