package app

import (
	"regexp"
	"slices"
	"strings"
)

// fromEnvironment reads the variables with our prefix. It returns those that only
// look like settings separately, so that they can be logged.
func fromEnvironment(environment []string) (all []assignment, ignored []string) {
	slices.Sort(environment) // messages are always in the same order
	for _, entry := range environment {
		name, text, _ := strings.Cut(entry, "=")
		switch rest, ours := strings.CutPrefix(name, envPrefix); {
		case !ours || isReserved(name):
		case isKubernetesVariable(name, text):
			ignored = append(ignored, name)
		default:
			all = append(all, assignment{
				name: strings.ReplaceAll(strings.ToLower(rest), "_", "-"), text: text, origin: "variable " + name,
			})
		}
	}
	return all, ignored
}

// isReserved reports whether a variable with our prefix is not a setting of the
// server. Some are for commands that connect to a server.
func isReserved(variable string) bool {
	return slices.Contains([]string{envPrefix + "CONFIG", envPrefix + "API_KEY", envPrefix + "SERVER", envPrefix + "PSEUDONYM_KEY"}, variable) ||
		strings.HasPrefix(variable, envPrefix+"TEST_")
}

// kubernetesVariables match the variables that Kubernetes adds to every container
// for a Service whose name starts with landfall, by name and by value.
// LANDFALL_PORT=8080 is a user's mistake and still refused.
var kubernetesVariables = []struct{ name, text *regexp.Regexp }{
	{regexp.MustCompile(`_SERVICE_HOST$`), regexp.MustCompile(`^[0-9A-Fa-f.:]+$`)},
	{regexp.MustCompile(`_SERVICE_PORT(_[A-Z0-9_]+)?$`), regexp.MustCompile(`^\d+$`)},
	{regexp.MustCompile(`_PORT(_\d+_(TCP|UDP|SCTP))?$`), regexp.MustCompile(`^(tcp|udp|sctp)://`)},
	{regexp.MustCompile(`_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)$`), regexp.MustCompile(``)},
}

// isKubernetesVariable reports whether Kubernetes added a variable.
func isKubernetesVariable(name, text string) bool {
	for _, known := range kubernetesVariables {
		if known.name.MatchString(name) && known.text.MatchString(text) {
			return true
		}
	}
	return false
}
