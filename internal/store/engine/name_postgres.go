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

// postgresServer names a PostgreSQL database.
type postgresServer struct {
	config *pgx.ConnConfig
	text   string
}

// escapedSocket finds the folder of a Unix socket in the place of the host.
var escapedSocket = regexp.MustCompile(`(?i)^(postgres(?:ql)?://(?:[^/?]*@)?)(%2F[^/?:@]*)(?::(\d+))?(/[^?]*)?(?:\?(.*))?$`)

// withSocket moves such a folder to the parameters: psql takes it in both
// places, the driver only there.
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
	if err == nil && strings.Contains(config.Host, "@") { // the rest of a password, which would be shown
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

// shown names the server and the database, and nothing that is secret.
func (p *postgresServer) shown() string {
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

// passwordGiven finds a password, and that of a client's certificate, among
// settings. Values of other settings hold none but by a strange chance.
var passwordGiven = regexp.MustCompile(`(?i)password\s*=`)

// exposed looks at the text: the driver's own reading also knows the password
// of PGPASSWORD and of PGPASSFILE, which nobody else can see.
func (p *postgresServer) exposed() bool {
	if address, ok := p.url(); ok {
		_, locked := address.User.Password()
		return locked || passwordGiven.MatchString(address.RawQuery)
	}
	return passwordGiven.MatchString(p.text)
}

// url gives the name as a URL, unless it is "host=… dbname=…".
func (p *postgresServer) url() (*url.URL, bool) {
	if !strings.HasPrefix(p.text, "postgres://") && !strings.HasPrefix(p.text, "postgresql://") {
		return nil, false
	}
	address, err := url.Parse(p.text)
	return address, err == nil
}

func (p *postgresServer) unlocked(password string) (string, error) {
	if p.exposed() {
		return "", errors.New("the database password is given twice: take the one in setting database out")
	}
	address, ok := p.url()
	switch {
	case !ok:
		return p.text + " password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password) + "'", nil
	case address.User == nil:
		// A password in front of the host would need a user; the parameter of
		// the same name does not. The driver takes a + for a plus sign.
		query := address.Query()
		query.Set("password", password)
		address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	default:
		address.User = url.UserPassword(address.User.Username(), password)
	}
	return address.String(), nil
}
