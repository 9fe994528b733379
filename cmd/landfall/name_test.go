package main

import (
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"landfall/internal/test/pgtest"
)

// runLandfall runs the program as an operator does.
func runLandfall(t *testing.T, args ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output, err := (&exec.Cmd{Path: program, Args: append([]string{"landfall"}, args...)}).CombinedOutput()
	if err != nil {
		t.Errorf("landfall %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// databaseSpelling is a database as it is given and as it is shown.
type databaseSpelling struct{ given, shown string }

// TestEveryNameOfADatabaseIsAccepted checks that settings, log and driver accept the same
// spellings of a database, such as bare file names, Unix sockets and "host=… dbname=…", and show no
// password.
func TestEveryNameOfADatabaseIsAccepted(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]databaseSpelling{
		"bare":     {"bare.db", "sqlite:bare.db"},
		"scheme":   {"sqlite:scheme.db", "sqlite:scheme.db"},
		"slashes":  {"sqlite://slashes.db", "sqlite:slashes.db"},
		"absolute": {"sqlite://" + folder + "/absolute.db", "sqlite:" + folder + "/absolute.db"},
	}
	server, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	user, database, port := server.User.Username(), strings.TrimPrefix(server.Path, "/"), server.Port()
	password, _ := server.User.Password()
	words := " port=" + port + " dbname=" + database + " user=" + user + " password=" + password + " sslmode=disable"
	shown := "postgres://" + user + "@" + server.Host + server.Path
	names["URL"] = databaseSpelling{server.String(), shown}
	names["words"] = databaseSpelling{"host=" + server.Hostname() + words, shown}
	names["words in another order"] = databaseSpelling{
		"application_name=x password=" + password + " host=" + server.Hostname() + words, shown}
	if sockets := socketsOf(t, server); sockets != "" {
		shown := "postgres://" + user + "@" + server.Path + "?host=" + sockets + "&port=" + port
		secret := url.UserPassword(user, password).String()
		names["socket in words"] = databaseSpelling{"host=" + sockets + words, shown}
		names["socket as a parameter"] = databaseSpelling{
			"postgres://" + secret + "@" + server.Path + "?host=" + sockets + "&port=" + port, shown}
		names["socket as a host"] = databaseSpelling{
			"postgresql://" + secret + "@" + url.PathEscape(sockets) + ":" + port + server.Path + "?sslmode=disable", shown}
	}
	for name, test := range names {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, "--database", test.given, "--shutdown-delay", "0s")
			told := strings.Join(s.told, "")
			s.Process.Signal(syscall.SIGTERM)
			s.Wait()
			line := strings.ReplaceAll(s.told[len(s.told)-1], `\u0026`, "&")
			if !strings.Contains(line, `"database":"`+test.shown+`"`) {
				t.Errorf("the start line is %s, want %s", line, test.shown)
			}
			if strings.Contains(told, password) {
				t.Error("the log holds the password")
			}
			code := strings.ToUpper(strings.NewReplacer(" ", "-").Replace(name))
			runLandfall(t, "supplier", "create", code, "--database", test.given)
			t.Setenv("PGPASSWORD", password)
			if list := runLandfall(t, "supplier", "list", "--database", test.shown); !strings.Contains(list, code) {
				t.Errorf("%s is not found under the name that was shown:\n%s", code, list)
			}
		})
	}
}

// socketsOf returns the folder of a server's Unix sockets, if it is on this machine.
func socketsOf(t *testing.T, server *url.URL) (folder string) {
	t.Helper()
	database, err := sql.Open("pgx", server.String())
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	if err := database.QueryRowContext(t.Context(), "SHOW unix_socket_directories").Scan(&folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".s.PGSQL."+server.Port())); err != nil {
		return ""
	}
	return folder
}
