package app

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"landfall/internal/api/httpapi"
)

// Settings is everything an operator can decide about a running program. The
// zero value is no use: get one from Load or Defaults.
type Settings struct { //nolint:recvcheck // it is copied where it is only read
	Listen    string
	OpsListen string  // "" keeps metrics and profiling off
	Proxies   proxies // whose X-Forwarded-For is believed
	Database  string
	// At most one of these has what the database's address lacks.
	DatabasePassword     string
	DatabasePasswordFile string
	DatabaseWait         time.Duration
	Connections          int
	WeakDatabase         bool // accept one that may forget answered writes

	BaseURL        string // where clients find the service; "" when they know best
	MaxBody        int64
	BodyMemory     int64 // of all bodies at once
	MaxRequests    int
	MaxConnections int
	MaxPerSource   int   // connections of one source; 0 is no limit
	BodyRate       int64 // bytes a second
	ReadTimeout    time.Duration
	IdleTimeout    time.Duration
	WriteTimeout   time.Duration
	ShutdownDelay  time.Duration
	ShutdownGrace  time.Duration
	MemoryLimit    int64 // autoMemory fits the container, 0 is none
	BulkSpool      string
	BulkSpoolSize  int64

	ClaimLease       time.Duration
	ConcurrencyLimit int    // accounts created at once by all replicas; 0 means no limit
	Documents        string // address of the document store; "" when there is none
	DocumentTimeout  time.Duration
	VendorTimeout    time.Duration
	VendorSecrets    []string // variables that may hold a vendor's secret besides VENDOR_…

	WebhookKey       string // or the file below, in which the same stands
	WebhookKeyFile   string
	WebhookNetworks  []netip.Prefix // private networks receivers may be in
	WebhookPlainHTTP bool
	WebhookTimeout   time.Duration
	WebhookLease     time.Duration

	EncryptionKey     string // or the file below, in which the same stands
	EncryptionKeyFile string

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

	Mail MailSettings
	TLS  TLSSettings

	Telemetry TelemetrySettings

	LogFormat string
	LogLevel  slog.Level

	ignored        []string // variables that look like settings and are none
	passwordInFlag bool     // a password stands on the command line
}

// complete checks what no setting knows alone, and brings together what
// several say about one thing.
func (s *Settings) complete() (mistakes []error) {
	if err := s.applyPassword(); err != nil {
		mistakes = append(mistakes, err)
	}
	mistakes = append(mistakes, s.TLS.complete()...)
	mistakes = append(mistakes, s.Mail.complete()...)
	// Otherwise a request would end before its questions do, and nobody would learn
	// which of those who were asked was slow.
	if asking := requestTime - spareTime; s.DocumentTimeout+s.VendorTimeout > asking {
		mistakes = append(mistakes, fmt.Errorf("settings document-timeout and vendor-timeout: one request may need both, and has %s for them",
			formatDuration(asking)))
	}
	return mistakes
}

// setting declares one: its name on the command line (upper-cased behind
// LANDFALL_ in the environment), what it means, and where its value lives.
type setting struct {
	name  string
	usage string
	bind  func(*Settings) value
}

// settingTable lists every setting in the order the help shows them.
// How the address is protected stands right behind the address.
var settingTable = slices.Concat(serving[:1], tlsSettings, serving[1:], telemetrySettings, mailSettings)

// serving are the settings of the service itself. The second argument of each
// value is its default, the others are what it may be.
var serving = []setting{
	{"listen", "address the API answers on", func(s *Settings) value {
		return textSetting(&s.Listen, "127.0.0.1:8080", checkAddress)
	}},
	{"base-url", "where clients find the service, for links in answers; what they asked for when empty", func(s *Settings) value {
		return textSetting(&s.BaseURL, "", optional(checkBaseURL))
	}},
	{"ops-listen", "address for /metrics and profiling; off when empty", func(s *Settings) value {
		return textSetting(&s.OpsListen, "", optional(checkAddress))
	}},
	{"trusted-proxies", "addresses or networks of proxies whose X-Forwarded-For names the caller, with commas between them", func(s *Settings) value {
		return proxiesSetting(&s.Proxies)
	}},
	{"database", "where everything is kept: sqlite:FILE, postgres://… or host=… dbname=…", func(s *Settings) value {
		return textSetting(&s.Database, "sqlite:landfall.db", checkDatabase)
	}},
	{"database-password-file", "file whose first line is the database's password, when its address has none", func(s *Settings) value {
		return textSetting(&s.DatabasePasswordFile, "", optional(anything))
	}},
	{"database-password", "the same as a variable, never a flag or a line of the config file", func(s *Settings) value {
		return secretSetting(&s.DatabasePassword)
	}},
	{"database-wait", "how long to wait for the database at the start", func(s *Settings) value {
		return durationSetting(&s.DatabaseWait, 30*time.Second, 0, time.Hour)
	}},
	{"database-connections", "most connections to a PostgreSQL server", func(s *Settings) value {
		return countSetting(&s.Connections, 16, 2, 500)
	}},
	{"allow-weak-durability", "accept a database that may forget answered writes in a power cut", func(s *Settings) value {
		return boolSetting(&s.WeakDatabase, false)
	}},
	{"max-body", "largest request body", func(s *Settings) value {
		return sizeSetting(&s.MaxBody, 10<<20, 1<<10, 1<<30)
	}},
	{"body-memory", "bytes of request bodies held at once; over it callers wait a moment and are then asked to come back", func(s *Settings) value {
		return sizeSetting(&s.BodyMemory, 48<<20, 1<<20, 1<<40)
	}},
	{"memory-limit", "memory to stay near: auto is 352MiB or 80 % of a smaller container's, off no limit", func(s *Settings) value {
		return memorySetting(&s.MemoryLimit)
	}},
	{"max-requests", "most requests worked on at once; others wait a second and are then told to come back", func(s *Settings) value {
		return countSetting(&s.MaxRequests, httpapi.DefaultMaxInFlight, 1, 100_000)
	}},
	{"max-connections", "most connections open at once; fewer where file descriptors are", func(s *Settings) value {
		return countSetting(&s.MaxConnections, 16384, 1, 1_000_000)
	}},
	{"max-connections-per-source", "most of them from one IPv4 address or IPv6 /64 network, trusted proxies excepted; 0 means no limit", func(s *Settings) value {
		return countSetting(&s.MaxPerSource, 8192, 0, 1_000_000)
	}},
	{"body-rate", "bytes a second of a large body that buy it more time than read-timeout", func(s *Settings) value {
		return sizeSetting(&s.BodyRate, 32<<10, 1<<10, 1<<30)
	}},
	{"read-timeout", "time to send a request; a large body gets more while it keeps coming", func(s *Settings) value {
		return durationSetting(&s.ReadTimeout, 30*time.Second, time.Second, time.Hour)
	}},
	{"idle-timeout", "time a quiet connection stays open", func(s *Settings) value {
		return durationSetting(&s.IdleTimeout, 2*time.Minute, time.Second, time.Hour)
	}},
	{"write-timeout", "time to take a whole answer; a list has five seconds for every piece instead", func(s *Settings) value {
		return durationSetting(&s.WriteTimeout, time.Minute, shortestAnswer, time.Hour)
	}},
	{"bulk-spool", "folder for answers to bulk requests whose callers send everything before they read; the system's temporary one when empty", func(s *Settings) value {
		return textSetting(&s.BulkSpool, "", optional(anything))
	}},
	{"bulk-spool-size", "most bytes of such answers on disk at once; beyond it requests wait, and end early when nobody reads", func(s *Settings) value {
		return sizeSetting(&s.BulkSpoolSize, 4<<30, 0, 1<<50)
	}},
	{"shutdown-delay", "time to go on serving as not ready, so that balancers notice", func(s *Settings) value {
		return durationSetting(&s.ShutdownDelay, time.Second, 0, time.Minute)
	}},
	{"shutdown-grace", "time running requests get to finish", func(s *Settings) value {
		return durationSetting(&s.ShutdownGrace, 25*time.Second, time.Second, time.Hour)
	}},
	{"claim-lease", "how long the account of a killed attempt stays IN_PROGRESS", func(s *Settings) value {
		return durationSetting(&s.ClaimLease, time.Minute, time.Second, time.Hour)
	}},
	{"concurrency-limit", "accounts created at once by all replicas together; 0 means no limit", func(s *Settings) value {
		return countSetting(&s.ConcurrencyLimit, 0, 0, 100_000)
	}},
	{"documents", "where documents are: s3://BUCKET?endpoint=…&region=… or file:///FOLDER; empty when none can be checked", func(s *Settings) value {
		return textSetting(&s.Documents, "", optional(checkDocuments))
	}},
	{"document-timeout", "time to find out whether a document exists", func(s *Settings) value {
		return durationSetting(&s.DocumentTimeout, 5*time.Second, 100*time.Millisecond, 20*time.Second)
	}},
	{"vendor-timeout", "time to ask a payment vendor about an instruction, repetitions included", func(s *Settings) value {
		return durationSetting(&s.VendorTimeout, 10*time.Second, 100*time.Millisecond, 20*time.Second)
	}},
	{"vendor-secret-variables", "environment variables that may hold a vendor's secret, with commas between them, besides those named VENDOR_…", func(s *Settings) value {
		return namesSetting(&s.VendorSecrets, variableForm, "want names of environment variables in capitals, with commas between them")
	}},
	{"webhook-key", "random text of 32 characters or more that webhooks' secrets are derived from, never a flag or a line of the config file; several with commas between them, the one for new secrets first", func(s *Settings) value {
		return secretSetting(&s.WebhookKey)
	}},
	{"webhook-key-file", "file whose first line is the webhook-key", func(s *Settings) value {
		return textSetting(&s.WebhookKeyFile, "", optional(anything))
	}},
	{"webhook-networks", "private networks webhooks' receivers may be in, with commas between them", func(s *Settings) value {
		return prefixesSetting(&s.WebhookNetworks)
	}},
	{"webhook-plain-http", "let webhooks be delivered without TLS", func(s *Settings) value {
		return boolSetting(&s.WebhookPlainHTTP, false)
	}},
	{"webhook-timeout", "time a receiver has to answer a webhook", func(s *Settings) value {
		return durationSetting(&s.WebhookTimeout, 10*time.Second, 100*time.Millisecond, 20*time.Second)
	}},
	{"webhook-lease", "how long the webhooks of a killed server wait for another one", func(s *Settings) value {
		return durationSetting(&s.WebhookLease, time.Minute, 2*time.Second, time.Hour)
	}},
	{"encryption-key", "key that encrypts what is personal in the database, 32 random bytes in base64, never a flag or a line of the config file; several with commas between them, the one that encrypts first; without one nothing is encrypted", func(s *Settings) value {
		return secretSetting(&s.EncryptionKey)
	}},
	{"encryption-key-file", "file with encryption-keys, one in a line, the one that encrypts first", func(s *Settings) value {
		return textSetting(&s.EncryptionKeyFile, "", optional(anything))
	}},
	{"audit-key-file", "file with the key that signs checkpoints of the audit, as made by audit key; unsigned when empty", func(s *Settings) value {
		return textSetting(&s.AuditKeyFile, "", optional(anything))
	}},
	{"audit-checkpoints", "file that checkpoints of the audit are added to; the log when empty and there is a key", func(s *Settings) value {
		return textSetting(&s.AuditCheckpoints, "", optional(anything))
	}},
	{"audit-checkpoint-every", "how often a checkpoint is kept while the audit grows", func(s *Settings) value {
		return durationSetting(&s.AuditEvery, time.Minute, time.Second, day)
	}},
	{"access-token-life", "how long an access token is good", func(s *Settings) value {
		return durationSetting(&s.AccessTokenLife, time.Hour, time.Minute, day)
	}},
	{"refresh-token-life", "how long a refresh token is good", func(s *Settings) value {
		return durationSetting(&s.RefreshTokenLife, 7*day, time.Minute, 90*day)
	}},
	{"login-life", "how long tokens can be refreshed after an API key was shown, however often", func(s *Settings) value {
		return durationSetting(&s.LoginLife, 30*day, time.Minute, 365*day)
	}},
	{"introspection", "let callers read the GraphQL schema", func(s *Settings) value {
		return boolSetting(&s.Introspection, false)
	}},
	{"console", "serve the web console under /console/", func(s *Settings) value {
		return boolSetting(&s.Console, true)
	}},
	{"console-idle", "how long a session of the console lasts that nobody uses", func(s *Settings) value {
		return durationSetting(&s.ConsoleIdle, time.Hour, time.Minute, 7*day)
	}},
	{"console-session", "how long a session of the console lasts at most", func(s *Settings) value {
		return durationSetting(&s.ConsoleSession, 12*time.Hour, time.Minute, 30*day)
	}},
	{"log-format", "how log lines are written: json or text", func(s *Settings) value {
		return textSetting(&s.LogFormat, "json", choice("json", "text"))
	}},
	{"log-level", "the least a log line must matter: debug, info, warn or error", func(s *Settings) value {
		return levelSetting(&s.LogLevel, slog.LevelInfo)
	}},
}

// day is a length of time here, for settings; calendars are elsewhere.
const day = 24 * time.Hour

// Defaults gives the settings nobody changed.
func Defaults() Settings {
	var settings Settings
	for _, declared := range settingTable {
		declared.bind(&settings).reset()
	}
	return settings
}
