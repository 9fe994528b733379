package engine

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
		return nil, errors.New("the PostgreSQL URL holds a setting that cannot be read")
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return nil, errors.New("default_query_exec_mode=simple_protocol can repeat a write whose answer was lost: use exec or cache_describe")
	}
	if !strings.Contains(text, "target_session_attrs") {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return &postgresServer{config, text}, nil
}

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
