package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// TestManifestsAreValid renders the example with kustomize and decodes every object strictly
// with the types of the Kubernetes API.
func TestManifestsAreValid(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	// Not named after the last part of its path.
	kustomize := filepath.Join(filepath.Dir(tooltest.Go(t, "sigs.k8s.io/kustomize/kustomize/v5", "v5.7.1")), "kustomize")
	rendered := must(t, kustomize, "build", "kubernetes/example")
	check := func(text string) (string, error) {
		command := exec.CommandContext(t.Context(), "go", "run", "-C", "../tools/kubernetes", ".")
		command.Stdin = strings.NewReader(text)
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if said, err := check(rendered); err != nil || !strings.Contains(said, "9 manifests are valid") {
		t.Errorf("%v: %s\n%s", err, said, rendered)
	}
	if said, err := check(strings.Replace(rendered, "maxUnavailable:", "maxUnavailble:", 1)); err == nil || !strings.Contains(said, "maxUnavailble") { // on purpose
		t.Errorf("a misspelled field is accepted: %s", said)
	}
	for _, want := range []string{"image: registry.example.com/landfall:1.0.0", "replicas: 3", "namespace: landfall", "kind: Secret"} {
		if !strings.Contains(rendered, want) {
			t.Errorf("the example has no %q", want)
		}
	}
}

// capture returns the first group of a pattern that must match.
func capture(t *testing.T, text, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no %s", pattern)
	}
	return found[1]
}

// The settings in the ConfigMap must be valid and fit the pod: it gets enough time to shut
// down, the spool fits its volume, which is on disk, and probes use the right paths.
func TestPodFitsSettings(t *testing.T) {
	t.Parallel()
	pod, config := read(t, "kubernetes/base/deployment.yaml"), read(t, "kubernetes/base/configmap.yaml")
	length := func(name string) time.Duration {
		found, err := time.ParseDuration(capture(t, config, `(?m)^ +`+name+`: (\S+)$`))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	grace, err := strconv.Atoi(capture(t, pod, `terminationGracePeriodSeconds: (\d+)`))
	if needed := length("shutdown-delay") + length("shutdown-grace") + 5*time.Second; err != nil || time.Duration(grace)*time.Second < needed {
		t.Errorf("the pod is killed after %d s, but may need %s: %v", grace, needed, err)
	}
	// A pod is taken out of the Service after two failed readiness probes.
	period, _ := strconv.Atoi(capture(t, pod, `(?s)readinessProbe:.*?periodSeconds: (\d+)`))
	if delay := length("shutdown-delay"); delay < 2*time.Duration(period)*time.Second {
		t.Errorf("the delay %s is shorter than two probes", delay)
	}
	size, _ := strconv.Atoi(capture(t, pod, `emptyDir: \{sizeLimit: (\d+)Gi\}`))
	if spool, _ := strconv.Atoi(capture(t, config, `bulk-spool-size: (\d+)GiB`)); size <= spool {
		t.Errorf("a spool of %d GiB does not fit into %d GiB", spool, size)
	}
	if strings.Contains(pod, "medium: Memory") {
		t.Error("the spool is in memory")
	}
	if capture(t, pod, `(?s)livenessProbe:\s+httpGet: \{path: (\S+),`) != "/healthz" || capture(t, pod, `(?s)readinessProbe:\s+httpGet: \{path: (\S+),`) != "/readyz" {
		t.Error("a probe uses the wrong path")
	}
	// The files of the Secret do not exist here.
	folder := t.TempDir()
	for name, text := range map[string]string{"database-password": "hunter2\n", "webhook-key": strings.Repeat("k", 40) + "\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, text, _ := strings.Cut(config, "landfall.yaml: |\n")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "&sslrootcert=/etc/landfall/secret/db-ca.pem", ""), "/etc/landfall/secret", folder)
	file := filepath.Join(folder, "landfall.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll("\n"+text, "\n    ", "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, tooltest.Landfall(t), "config", "check", "--config", file)
}
