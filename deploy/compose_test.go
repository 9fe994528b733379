package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"landfall/internal/lib/yamltree"
	"landfall/internal/test/tooltest"
)

// service returns the members of a service of the compose file, including those
// that it merges from another one.
func service(t *testing.T, services *yamltree.Node, name string) map[string]*yamltree.Node {
	t.Helper()
	found := services.Find(name)
	if found == nil {
		t.Fatalf("there is no service %s", name)
	}
	members := map[string]*yamltree.Node{}
	if other := found.Find("<<"); other != nil {
		for _, member := range other.Members {
			members[member.Name] = member.Node
		}
	}
	for _, member := range found.Members {
		members[member.Name] = member.Node
	}
	return members
}

// texts returns the items of a list, or the names of a mapping, which compose
// accepts instead in many places.
func texts(node *yamltree.Node) (all []string) {
	if node == nil {
		return nil
	}
	for _, item := range node.Items {
		all = append(all, item.Text)
	}
	for _, member := range node.Members {
		all = append(all, member.Name)
	}
	return all
}

// knownToCompose lists the members of a service that this file uses.
var knownToCompose = []string{
	"<<", "image", "build", "environment", "volumes", "healthcheck", "depends_on", "read_only", "tmpfs", "cap_drop", "security_opt",
	"stop_grace_period", "restart", "ports",
}

// Everything that the compose file names exists: services, volumes, files and
// settings. The replicas would start with these settings.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	root, err := yamltree.Read(strings.NewReader(read(t, "container/compose.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	services, volumes := root.Find("services"), texts(root.Find("volumes"))
	names := texts(services)
	if !slices.Equal(names, []string{"database", "landfall-1", "landfall-2", "proxy"}) {
		t.Fatalf("the services are %v", names)
	}
	for _, name := range names {
		members := service(t, services, name)
		for member := range members {
			if !slices.Contains(knownToCompose, member) {
				t.Errorf("%s: compose knows no %s, or this test does not", name, member)
			}
		}
		if (members["image"] == nil) == (members["build"] == nil) {
			t.Errorf("%s has to have either an image or a way to build it", name)
		}
		if image := members["image"]; image != nil && !regexp.MustCompile(`^docker\.io/library/[a-z]+:\d+(\.\d+)?$`).MatchString(image.Text) {
			t.Errorf("%s: %s does not say where it comes from and which version it is", name, image.Text)
		}
		for _, other := range texts(members["depends_on"]) {
			if !slices.Contains(names, other) {
				t.Errorf("%s waits for %s, which does not exist", name, other)
			}
		}
		for _, volume := range texts(members["volumes"]) {
			source, _, _ := strings.Cut(volume, ":")
			if _, err := os.Stat(filepath.Join("container", source)); strings.HasPrefix(source, ".") && err != nil {
				t.Error(err)
			} else if !strings.HasPrefix(source, ".") && !slices.Contains(volumes, source) {
				t.Errorf("%s mounts %s, which is no volume", name, source)
			}
		}
	}
	composeReplicas(t, services)
	composeProxy(t, services)
	// The installed program checks the file itself.
	if compose, err := exec.LookPath("docker-compose"); err == nil {
		command := exec.CommandContext(t.Context(), compose, "-f", "container/compose.yaml", "config", "--quiet")
		command.Env = append(os.Environ(), "LANDFALL_DATABASE_PASSWORD=p", "LANDFALL_WEBHOOK_KEY=k")
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
	}
}

// composeReplicas checks that the replicas would start: their settings are
// valid, and they wait for a healthy database.
func composeReplicas(t *testing.T, services *yamltree.Node) {
	t.Helper()
	if health := service(t, services, "database")["healthcheck"]; health == nil || len(texts(health.Find("test"))) < 2 {
		t.Error("the database has no health check")
	}
	for _, name := range []string{"landfall-1", "landfall-2"} {
		members := service(t, services, name)
		wait := members["depends_on"].Find("database")
		if wait == nil || wait.Find("condition").Text != "service_healthy" {
			t.Errorf("%s does not wait for the database", name)
		}
		if file := members["build"].Find("dockerfile").Text; members["build"].Find("context").Text != "../.." || read(t, filepath.Join("..", file)) == "" {
			t.Errorf("%s is not built from %s", name, file)
		}
		// The environment of the image and of the compose file, as the program
		// would see it.
		environment := []string{"PATH=" + os.Getenv("PATH")}
		for _, line := range regexp.MustCompile(`(?m)^ENV (.*)$`).FindAllStringSubmatch(read(t, "container/Containerfile"), -1) {
			environment = append(environment, strings.Fields(line[1])...)
		}
		for _, member := range members["environment"].Members {
			value := regexp.MustCompile(`^\$\{\w+:\?.*\}$`).ReplaceAllString(member.Node.Text, "one that is long enough to be a secret of 32 letters")
			environment = append(environment, member.Name+"="+value)
		}
		check := exec.CommandContext(t.Context(), tooltest.Landfall(t), "config", "check")
		check.Env = environment
		if said, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s would not start: %s", name, said)
		}
	}
}

// composeProxy checks that the proxy uses the addresses the replicas listen on.
func composeProxy(t *testing.T, services *yamltree.Node) {
	t.Helper()
	proxy := service(t, services, "proxy")
	for variable, want := range map[string]string{"REPLICA_1": "landfall-1:8080", "REPLICA_2": "landfall-2:8080", "LISTEN": "0.0.0.0:8080"} {
		if found := proxy["environment"].Find(variable); found == nil || found.Text != want {
			t.Errorf("%s is not %s", variable, want)
		}
		if !strings.Contains(read(t, "haproxy/haproxy.cfg"), `"${`+variable+`}"`) {
			t.Errorf("haproxy.cfg does not ask for %s", variable)
		}
	}
	for _, port := range texts(proxy["ports"]) {
		if !strings.HasPrefix(port, "127.0.0.1:") || !strings.HasSuffix(port, ":8080") {
			t.Errorf("port %s is open to everybody, or is not the proxy's", port)
		}
	}
}

// unknownTo asks the program which variables it does not know.
func unknownTo(t *testing.T, variables map[string]bool) (unknown []string) {
	t.Helper()
	for name := range variables {
		check := exec.CommandContext(t.Context(), tooltest.Landfall(t), "config", "check")
		check.Env = []string{name + "=x"}
		if said, _ := check.CombinedOutput(); strings.Contains(string(said), "unknown setting") {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// The program knows every variable and setting that a file here names.
func TestSettingsNamedHereExist(t *testing.T) {
	t.Parallel()
	if len(unknownTo(t, map[string]bool{"LANDFALL_LISSTEN": true})) != 1 {
		t.Fatal("this test would find nothing")
	}
	named := map[string]bool{}
	for _, pattern := range []string{"*/*.*", "*/*/*.*", "*/[A-Z]*", "*.yaml", "*.env"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range regexp.MustCompile(`LANDFALL_[A-Z]+(?:_[A-Z]+)*`).FindAllString(read(t, file), -1) {
				named[name] = true
			}
		}
	}
	for _, found := range regexp.MustCompile(`(?m)^#? ?([a-z][a-z-]+): \S`).FindAllStringSubmatch(read(t, "landfall.yaml"), -1) {
		named["LANDFALL_"+strings.ToUpper(strings.ReplaceAll(found[1], "-", "_"))] = true
	}
	if len(named) < 15 {
		t.Errorf("only %v are named", named)
	}
	for _, name := range unknownTo(t, named) {
		t.Errorf("something here names %s, which is no setting", name)
	}
}
