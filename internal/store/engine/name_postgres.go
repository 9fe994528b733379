package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"landfall/internal/lib/spelling"
)

// postgresServer identifies a PostgreSQL database.
type postgresServer struct {
	config *pgx.ConnConfig
	text   string
}

// escapedSocket matches the directory of a Unix socket in place of the host.
var escapedSocket = regexp.MustCompile(`(?i)^(postgres(?:ql)?://(?:[^/?]*@)?)(%2F[^/?:@]*)(?::(\d+))?(/[^?]*)?(?:\?(.*))?$`)

// withSocket moves such a directory to the parameters: psql accepts both, the
// driver only those.
func withSocket(text string) string {
	part := escapedSocket.FindStringSubmatch(text)
	if part == nil {
		return text
	}
	text = part[1] + part[4] + "?host=" + part[2]
	if part[3] != "" {
		text += "&port=" + part[3]
	}
	return strings.TrimSuffix(text+"&"+part[5], "&")
}

var errUnescaped = errors.New("the PostgreSQL URL cannot be read: check it for characters that need escaping")

func parsePostgres(text string) (target, error) {
	text = withSocket(text)
	config, err := pgx.ParseConfig(text)
	if err == nil && strings.Contains(config.Host, "@") { // the rest of an unescaped password
		return nil, errUnescaped
	}
	if err != nil {
		if _, err := url.Parse(text); err != nil {
			return nil, errUnescaped
		}
		// Such as sslrootcert. Paths are no secrets.
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, fmt.Errorf("the PostgreSQL URL names the file %s, which cannot be read: %w", file.Path, file.Err)
		}
		return nil, errors.New("the PostgreSQL URL holds a setting that cannot be read")
	}
	if err := checkParameters(config.RuntimeParams); err != nil {
		return nil, err
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return nil, errors.New("default_query_exec_mode=simple_protocol can repeat a write whose answer was lost: use exec or cache_describe")
	}
	if !strings.Contains(text, "target_session_attrs") {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return &postgresServer{config, text}, nil
}

// connectionSettings are the driver's own. It sends all others to the server.
var connectionSettings = []string{
	"host", "port", "user", "password", "dbname", "database", "passfile", "service", "servicefile", "connect_timeout", "sslmode", "sslrootcert", "sslcert",
	"sslkey", "sslpassword", "sslsni", "sslnegotiation", "target_session_attrs", "default_query_exec_mode", "krbspn", "krbsrvname",
	"min_protocol_version", "max_protocol_version", "channel_binding", "require_auth", "application_name", "statement_cache_capacity",
}

// maxSlips is how many letters of a misspelled name may differ. Real settings of the server
// differ more.
const maxSlips = 2

// checkParameters refuses misspelled settings. The driver sends settings that it does not know
// to the server, so sslmod=verify-full would not check the certificate.
func checkParameters(given map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(connectionSettings, name) {
			continue
		}
		if meant := spelling.Near(name, connectionSettings); len(meant) > 0 && spelling.Distance(name, meant[0]) <= maxSlips {
			return fmt.Errorf("the PostgreSQL URL has the unknown setting %s: did you mean %s?", name, meant[0])
		}
	}
	return nil
}

// masked keeps everything but passwords.
func (p *postgresServer) masked(mask string) string {
	address, ok := p.url()
	if !ok {
		return passwordValue.ReplaceAllString(p.text, "${1}"+mask)
	}
	before, after, _ := strings.Cut(p.text, "?")
	if _, locked := address.User.Password(); locked {
		at := strings.LastIndexByte(before, '@')
		user := strings.Index(before, "//") + 2
		colon := user + strings.IndexByte(before[user:], ':')
		before = before[:colon+1] + mask + before[at:]
	}
	if after == "" {
		return before
	}
	return before + "?" + queryPassword.ReplaceAllString(after, "${1}"+mask)
}

// Passwords in both forms of a name.
var (
	passwordValue = regexp.MustCompile(`(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|\S+)`)
	queryPassword = regexp.MustCompile(`(?i)((?:^|&)(?:ssl)?password=)[^&]*`)
)

// display returns server and database without secrets.
func (p *postgresServer) display() string {
	address := url.URL{Scheme: "postgres", Host: p.config.Host, Path: "/" + p.config.Database}
	if strings.HasPrefix(p.config.Host, "/") {
		address.Host = ""
		address.RawQuery = "host=" + p.config.Host
		if p.config.Port != 0 && p.config.Port != 5432 {
			address.RawQuery += "&port=" + strconv.Itoa(int(p.config.Port))
		}
	} else if p.config.Port != 0 && p.config.Port != 5432 {
		address.Host += ":" + strconv.Itoa(int(p.config.Port))
	}
	if p.config.User != "" {
		address.User = url.User(p.config.User)
	}
	return address.String()
}

// passwordGiven matches a password, or that of a client certificate, in
// settings.
var passwordGiven = regexp.MustCompile(`(?i)password\s*=`)

// hasPassword looks at the text, because the driver also knows the passwords of
// PGPASSWORD and PGPASSFILE.
func (p *postgresServer) hasPassword() bool {
	if address, ok := p.url(); ok {
		_, locked := address.User.Password()
		return locked || passwordGiven.MatchString(address.RawQuery)
	}
	return passwordGiven.MatchString(p.text)
}

// url returns the name as a URL, unless it is "host=… dbname=…".
func (p *postgresServer) url() (*url.URL, bool) {
	if !strings.HasPrefix(p.text, "postgres://") && !strings.HasPrefix(p.text, "postgresql://") {
		return nil, false
	}
	address, err := url.Parse(p.text)
	return address, err == nil
}

func (p *postgresServer) withPassword(password string) (string, error) {
	if p.hasPassword() {
		return "", errors.New("the database password is set twice: remove the one in setting database")
	}
	address, ok := p.url()
	switch {
	case !ok:
		return p.text + " password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password) + "'", nil
	case address.User == nil:
		// A password before the host would need a user; the parameter does not.
		// The driver reads + as a plus sign.
		query := address.Query()
		query.Set("password", password)
		address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	default:
		address.User = url.UserPassword(address.User.Username(), password)
	}
	return address.String(), nil
}
