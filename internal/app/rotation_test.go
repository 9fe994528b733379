package app_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"landfall/internal/app"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// After the database's password was changed, a server answered 503 until it was
// restarted.
func TestPasswordOfTheDatabaseIsChangedWhileAServerRuns(t *testing.T) {
	tooltest.SkipIfShort(t)
	for name, set := range map[string]func(*app.Settings, string){
		"file":    func(settings *app.Settings, file string) { settings.DatabasePasswordFile = file },
		"command": func(settings *app.Settings, file string) { settings.DatabasePasswordCommand = "cat '" + file + "'" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := pgtest.Start()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cluster.Stop() })
			address, err := cluster.Database("rotated")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sqlstore.SchemaApply(t.Context(), address, sqlstore.Options{}); err != nil {
				t.Fatal(err)
			}
			place, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "password")
			change := func(password string) {
				t.Helper()
				for _, statement := range []string{
					`ALTER ROLE "landfall_app" PASSWORD '` + password + `'`,
					// As when connections are recycled or the server is restarted.
					`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'landfall_app'`,
				} {
					if err := cluster.Execute(statement); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := cluster.Execute(`CREATE ROLE "landfall_app" LOGIN SUPERUSER`); err != nil {
				t.Fatal(err)
			}
			change("first")
			place.User = url.User("landfall_app")
			r := startServer(t, place.String(), func(settings *app.Settings) { set(settings, file) })
			answers := func() bool {
				answer, err := http.DefaultClient.Do(r.request(http.MethodPost, stagePath, stageBody("1")))
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				return answer.StatusCode == http.StatusCreated || answer.StatusCode == http.StatusOK
			}
			await(t, "the server answers", answers)
			change("second")
			await(t, "the server answers with the new password", answers)
		})
	}
}
