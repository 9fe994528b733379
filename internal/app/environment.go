package app

import (
	"regexp"
	"slices"
	"strings"
)

// fromEnvironment takes the variables with our prefix. Those that only look
// like settings are named apart, so that the log can tell of them.
func fromEnvironment(environment []string) (all []assignment, ignored []string) {
	slices.Sort(environment) // messages come in the same order every time
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

// isReserved are variables with our prefix that are not settings of the program:
// two are for the commands that talk to a server.
func isReserved(variable string) bool {
	return variable == envPrefix+"CONFIG" || variable == envPrefix+"API_KEY" || variable == envPrefix+"SERVER" || strings.HasPrefix(variable, envPrefix+"TEST_")
}

// kubernetesVariables are the variables that Kubernetes puts into every container for a
// Service whose name begins with landfall, by their names and by what stands
// in them: LANDFALL_PORT=8080 is a person's mistake, and still refused.
var kubernetesVariables = []struct{ name, text *regexp.Regexp }{
	{regexp.MustCompile(`_SERVICE_HOST$`), regexp.MustCompile(`^[0-9A-Fa-f.:]+$`)},
	{regexp.MustCompile(`_SERVICE_PORT(_[A-Z0-9_]+)?$`), regexp.MustCompile(`^\d+$`)},
	{regexp.MustCompile(`_PORT(_\d+_(TCP|UDP|SCTP))?$`), regexp.MustCompile(`^(tcp|udp|sctp)://`)},
	{regexp.MustCompile(`_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)$`), regexp.MustCompile(``)},
}

// isKubernetesVariable says whether a variable is one of those.
func isKubernetesVariable(name, text string) bool {
	for _, known := range kubernetesVariables {
		if known.name.MatchString(name) && known.text.MatchString(text) {
			return true
		}
	}
	return false
}
