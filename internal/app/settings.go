package app

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
)

// Settings contains all settings of a server. The zero value is invalid: use Load or
// Defaults.
type Settings struct { //nolint:recvcheck // it is copied where it is only read
	Listen    string
	OpsListen string         // "" keeps metrics and profiling off
	Proxies   trustedProxies // whose X-Forwarded-For is trusted
	Database  string
	// At most one of these is set.
	DatabasePassword     string
	DatabasePasswordFile string
	// DatabasePasswordCommand prints the password.
	DatabasePasswordCommand string
	DatabaseWait            time.Duration
	Connections             int
	WeakDatabase            bool // may lose acknowledged writes
	ReadableSecrets         bool // by other users

	BaseURL        string // public URL; "" means that of the request
	MaxBody        int64
	BodyMemory     int64 // of all request bodies
	MaxRequests    int
	MaxConnections int
	MaxPerSource   int   // connections; 0 means no limit
	BodyRate       int64 // bytes per second
	ReadTimeout    time.Duration
	IdleTimeout    time.Duration
	WriteTimeout   time.Duration
	ShutdownDelay  time.Duration
	ShutdownGrace  time.Duration
	MemoryLimit    int64 // autoMemory fits the container, 0 means no limit
	BulkSpool      string
	BulkSpoolSize  int64

	ClaimLease       time.Duration
	ConcurrencyLimit int    // accounts created at once by all replicas; 0 means no limit
	Documents        string // URL of the document store; "" when there is none
	DocumentTimeout  time.Duration
	VendorTimeout    time.Duration
	VendorSecrets    []string // variables that may contain a vendor's secret in addition to VENDOR_…

	WebhookKey       string // or the file below
	WebhookKeyFile   string
	WebhookNetworks  []netip.Prefix // private networks where receivers are allowed
	WebhookPlainHTTP bool
	WebhookTimeout   time.Duration
	WebhookLease     time.Duration

	EncryptionKey     string // or the file below
	EncryptionKeyFile string
	EncryptedNames    bool // names and postcodes are found although they are encrypted

	AuditKeyFile     string
	AuditCheckpoints string // "": the log, when there is a key
	AuditEvery       time.Duration

	AccessTokenLife  time.Duration
	RefreshTokenLife time.Duration
	LoginLife        time.Duration
	Introspection    bool

	Console        bool
	ConsoleIdle    time.Duration
	ConsoleSession time.Duration
	SecondFactor   bool // every operator of the console needs one
	Provider       ProviderSettings

	Mail MailSettings
	TLS  TLSSettings

	Telemetry TelemetrySettings

	LogFormat string
	LogLevel  slog.Level

	ignored        []string // variables of Kubernetes that look like settings
	passwordInFlag bool     // the command line contains a password
}

// complete checks settings that depend on each other.
func (s *Settings) complete() (mistakes []error) {
	if err := s.applyPassword(); err != nil {
		mistakes = append(mistakes, err)
	}
	mistakes = append(mistakes, s.TLS.complete()...)
	mistakes = append(mistakes, s.Mail.complete()...)
	// Otherwise the request would time out first, and the error would not say what was
	// slow.
	if asking := requestTime - limits.RequestSpare; s.DocumentTimeout+s.VendorTimeout > asking {
		mistakes = append(mistakes, fmt.Errorf("settings document-timeout and vendor-timeout: together they must not exceed %s, because one request may need both",
			formatDuration(asking)))
	}
	return mistakes
}

// setting declares a setting: its flag name (LANDFALL_ and upper case in the environment),
// its help text and its field.
type setting struct {
	name  string
	usage string
	bind  func(*Settings) settingValue
}

// settingTable lists all settings in the order of the help. TLS follows the address.
var settingTable = slices.Concat(serving[:1], tlsSettings, serving[1:], telemetrySettings, mailSettings)

// serving lists the settings of the server itself. The second argument of each value is
// its default, the others are its limits.
var serving = []setting{
	{"listen", "address of the API", func(s *Settings) settingValue {
		return textSetting(&s.Listen, "127.0.0.1:8080", checkAddress)
	}},
	{"base-url", "public URL of the service, for links in responses; empty to use the URL of the request", func(s *Settings) settingValue {
		return textSetting(&s.BaseURL, "", optional(checkBaseURL))
	}},
	{"ops-listen", "address for /metrics and profiling; empty to turn it off", func(s *Settings) settingValue {
		return textSetting(&s.OpsListen, "", optional(checkAddress))
	}},
	{"trusted-proxies", "addresses or networks of proxies whose X-Forwarded-For is trusted, separated by commas", func(s *Settings) settingValue {
		return proxiesSetting(&s.Proxies)
	}},
	{"database", "database: sqlite:FILE, postgres://… or host=… dbname=…", func(s *Settings) settingValue {
		return textSetting(&s.Database, "sqlite:landfall.db", checkDatabase)
	}},
	{"database-password-file", "file whose first line is the database's password, when its address has none", func(s *Settings) settingValue {
		return textSetting(&s.DatabasePasswordFile, "", optional(anything))
	}},
	{"database-password-command", "command that prints the database's password, for passwords that change", func(s *Settings) settingValue {
		return textSetting(&s.DatabasePasswordCommand, "", optional(anything))
	}},
	{"database-password", "the password; only as an environment variable", func(s *Settings) settingValue {
		return secretSetting(&s.DatabasePassword)
	}},
	{"database-wait", "how long to wait for the database at startup", func(s *Settings) settingValue {
		return durationSetting(&s.DatabaseWait, limits.DatabaseWait, 0, time.Hour)
	}},
	{"database-connections", "maximum connections to a PostgreSQL server", func(s *Settings) settingValue {
		return countSetting(&s.Connections, 16, 2, 500)
	}},
	{"allow-weak-durability", "accept a database that may lose acknowledged writes in a power failure", func(s *Settings) settingValue {
		return boolSetting(&s.WeakDatabase, false)
	}},
	{"allow-readable-secrets", "start although other users of the machine can read a key or password file", func(s *Settings) settingValue {
		return boolSetting(&s.ReadableSecrets, false)
	}},
	{"max-body", "maximum size of a request body", func(s *Settings) settingValue {
		return sizeSetting(&s.MaxBody, limits.Body, 1<<10, 1<<30)
	}},
	{"body-memory", "memory for request bodies; when it is full, requests wait briefly and then get 503", func(s *Settings) settingValue {
		return sizeSetting(&s.BodyMemory, limits.BodyMemory, 1<<20, 1<<40)
	}},
	{"memory-limit", "soft memory limit: auto means 352MiB or 80 % of a smaller container, off means none", func(s *Settings) settingValue {
		return memorySetting(&s.MemoryLimit)
	}},
	{"max-requests", "maximum concurrent requests; others wait a second and then get 503", func(s *Settings) settingValue {
		return countSetting(&s.MaxRequests, httpapi.DefaultMaxInFlight, 1, 100_000)
	}},
	{"max-connections", "maximum open connections; fewer if there are not enough file descriptors", func(s *Settings) settingValue {
		return countSetting(&s.MaxConnections, limits.Connections, 1, 1_000_000)
	}},
	{"max-connections-per-source", "maximum connections from one IPv4 address or IPv6 /64 network, except trusted proxies; 0 means no limit", func(s *Settings) settingValue {
		return countSetting(&s.MaxPerSource, limits.ConnectionsPerSource, 0, 1_000_000)
	}},
	{"body-rate", "minimum bytes per second at which a large body may take longer than read-timeout", func(s *Settings) settingValue {
		return sizeSetting(&s.BodyRate, limits.BodyRate, 1<<10, 1<<30)
	}},
	{"read-timeout", "time to send a request; a large body gets more while data arrives", func(s *Settings) settingValue {
		return durationSetting(&s.ReadTimeout, limits.Read, time.Second, time.Hour)
	}},
	{"idle-timeout", "time an idle connection stays open", func(s *Settings) settingValue {
		return durationSetting(&s.IdleTimeout, limits.Idle, time.Second, time.Hour)
	}},
	{"write-timeout", "time to read a response; a streamed list has five seconds per part instead", func(s *Settings) settingValue {
		return durationSetting(&s.WriteTimeout, limits.Write, shortestAnswer, time.Hour)
	}},
	{"bulk-spool", "folder for responses to bulk requests whose callers send everything before they read; empty for the system's temporary folder", func(s *Settings) settingValue {
		return textSetting(&s.BulkSpool, "", optional(anything))
	}},
	{"bulk-spool-size", "maximum size of such responses on disk; beyond it requests wait, and end early if nobody reads", func(s *Settings) settingValue {
		return sizeSetting(&s.BulkSpoolSize, limits.BulkSpool, 0, 1<<50)
	}},
	{"shutdown-delay", "time to keep serving as not ready at shutdown, so that load balancers notice", func(s *Settings) settingValue {
		return durationSetting(&s.ShutdownDelay, limits.ShutdownDelay, 0, time.Minute)
	}},
	{"shutdown-grace", "time for running requests to finish at shutdown", func(s *Settings) settingValue {
		return durationSetting(&s.ShutdownGrace, limits.ShutdownGrace, time.Second, time.Hour)
	}},
	{"claim-lease", "how long an account stays IN_PROGRESS after its server was killed", func(s *Settings) settingValue {
		return durationSetting(&s.ClaimLease, limits.ClaimLease, time.Second, time.Hour)
	}},
	{"concurrency-limit", "maximum accounts created at the same time by all replicas together; 0 means no limit", func(s *Settings) settingValue {
		return countSetting(&s.ConcurrencyLimit, 0, 0, 100_000)
	}},
	{"documents", "document store: s3://BUCKET?endpoint=…&region=… or file:///FOLDER; empty to check no documents", func(s *Settings) settingValue {
		return textSetting(&s.Documents, "", optional(checkDocuments))
	}},
	{"document-timeout", "time to check whether a document exists", func(s *Settings) settingValue {
		return durationSetting(&s.DocumentTimeout, limits.Document, 100*time.Millisecond, 20*time.Second)
	}},
	{"vendor-timeout", "time to verify an instruction at a payment vendor, including retries", func(s *Settings) settingValue {
		return durationSetting(&s.VendorTimeout, limits.Vendor, 100*time.Millisecond, 20*time.Second)
	}},
	{"vendor-secret-variables", "environment variables that may contain a vendor's secret in addition to VENDOR_…, separated by commas", func(s *Settings) settingValue {
		return namesSetting(&s.VendorSecrets, variableForm, "want names of environment variables in upper case, separated by commas")
	}},
	{"webhook-key", "random text of at least 32 characters from which webhook secrets are derived; only as an environment variable; several separated by commas, the one for new secrets first", func(s *Settings) settingValue {
		return secretSetting(&s.WebhookKey)
	}},
	{"webhook-key-file", "file whose first line is the webhook-key", func(s *Settings) settingValue {
		return textSetting(&s.WebhookKeyFile, "", optional(anything))
	}},
	{"webhook-networks", "private networks where webhook receivers are allowed, separated by commas", func(s *Settings) settingValue {
		return prefixesSetting(&s.WebhookNetworks)
	}},
	{"webhook-plain-http", "allow webhook receivers without TLS", func(s *Settings) settingValue {
		return boolSetting(&s.WebhookPlainHTTP, false)
	}},
	{"webhook-timeout", "time for a webhook receiver to respond", func(s *Settings) settingValue {
		return durationSetting(&s.WebhookTimeout, limits.Webhook, 100*time.Millisecond, 20*time.Second)
	}},
	{"webhook-lease", "how long webhooks wait for another server after theirs was killed", func(s *Settings) settingValue {
		return durationSetting(&s.WebhookLease, limits.WebhookLease, 2*time.Second, time.Hour)
	}},
	{"encryption-key", "key that encrypts personal data in the database, 32 random bytes in base64; only as an environment variable; several separated by commas, the one that encrypts first; empty to encrypt nothing", func(s *Settings) settingValue {
		return secretSetting(&s.EncryptionKey)
	}},
	{"encryption-key-file", "file with encryption keys, one per line, the one that encrypts first", func(s *Settings) settingValue {
		return textSetting(&s.EncryptionKeyFile, "", optional(anything))
	}},
	{"encrypted-name-search", "find accounts by names and postcodes when personal data is encrypted; their keyed digests show how often each name occurs; run landfall rekey after changing it", func(s *Settings) settingValue {
		return boolSetting(&s.EncryptedNames, true)
	}},
	{"audit-key-file", "file with the key that signs audit checkpoints, from landfall audit key; empty for unsigned checkpoints", func(s *Settings) settingValue {
		return textSetting(&s.AuditKeyFile, "", optional(anything))
	}},
	{"audit-checkpoints", "file to append audit checkpoints to; empty to log them if there is a key", func(s *Settings) settingValue {
		return textSetting(&s.AuditCheckpoints, "", optional(anything))
	}},
	{"audit-checkpoint-every", "interval between audit checkpoints while the audit log grows", func(s *Settings) settingValue {
		return durationSetting(&s.AuditEvery, limits.AuditCheckpoint, time.Second, day)
	}},
	{"access-token-life", "lifetime of an access token", func(s *Settings) settingValue {
		return durationSetting(&s.AccessTokenLife, limits.AccessToken, time.Minute, day)
	}},
	{"refresh-token-life", "lifetime of a refresh token", func(s *Settings) settingValue {
		return durationSetting(&s.RefreshTokenLife, limits.RefreshToken, time.Minute, 90*day)
	}},
	{"login-life", "how long tokens can be refreshed after a login with an API key", func(s *Settings) settingValue {
		return durationSetting(&s.LoginLife, limits.Login, time.Minute, 365*day)
	}},
	{"introspection", "allow GraphQL introspection", func(s *Settings) settingValue {
		return boolSetting(&s.Introspection, false)
	}},
	{"console", "serve the web console under /console/", func(s *Settings) settingValue {
		return boolSetting(&s.Console, true)
	}},
	{"console-idle", "how long an unused console session lasts", func(s *Settings) settingValue {
		return durationSetting(&s.ConsoleIdle, limits.ConsoleIdle, time.Minute, 7*day)
	}},
	{"console-session", "maximum lifetime of a console session", func(s *Settings) settingValue {
		return durationSetting(&s.ConsoleSession, limits.ConsoleSession, time.Minute, 30*day)
	}},
	{"require-second-factor", "let operators use the console only with two-factor authentication; those without it can only set it up", func(s *Settings) settingValue {
		return boolSetting(&s.SecondFactor, false)
	}},
	{"oidc-issuer", "https address of an OpenID Connect provider with which operators sign in to the console; empty for none", func(s *Settings) settingValue {
		return textSetting(&s.Provider.Issuer, "", optional(checkIssuer))
	}},
	{"oidc-client-id", "client id of this service at the OpenID Connect provider", func(s *Settings) settingValue {
		return textSetting(&s.Provider.ClientID, "", optional(anything))
	}},
	{"oidc-secret-env", "environment variable with the client secret for the OpenID Connect provider; empty for a client without one", func(s *Settings) settingValue {
		return textSetting(&s.Provider.SecretEnv, "", optional(checkVariable))
	}},
	{"oidc-claim", "claim whose value, in lower case, is the operator's name: email (only if verified), preferred_username, sub or another", func(s *Settings) settingValue {
		return textSetting(&s.Provider.Claim, "email", anything)
	}},
	{"log-format", "log format: json or text", func(s *Settings) settingValue {
		return textSetting(&s.LogFormat, "json", choice("json", "text"))
	}},
	{"log-level", "minimum log level: debug, info, warn or error", func(s *Settings) settingValue {
		return levelSetting(&s.LogLevel, slog.LevelInfo)
	}},
}

const day = 24 * time.Hour

// Defaults returns the default settings.
func Defaults() Settings {
	var settings Settings
	for _, declared := range settingTable {
		declared.bind(&settings).reset()
	}
	return settings
}
