// Command kubernetes checks manifests against the types of the Kubernetes API: every field must
// exist and have the right type. It reads YAML documents from standard input. It needs no
// cluster and no network.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// serviceMonitor has the fields of the Prometheus operator's type that the manifests use. Its
// own module would bring hundreds of others.
type serviceMonitor struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		JobLabel  string             `json:"jobLabel"`
		Selector  meta.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port     string `json:"port"`
			Interval string `json:"interval"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// kinds maps each allowed kind to its type.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                      func() any { return new(apps.Deployment) },
	"batch/v1 Job":                            func() any { return new(batch.Job) },
	"v1 ConfigMap":                            func() any { return new(core.ConfigMap) },
	"v1 Namespace":                            func() any { return new(core.Namespace) },
	"v1 Secret":                               func() any { return new(core.Secret) },
	"v1 Service":                              func() any { return new(core.Service) },
	"v1 ServiceAccount":                       func() any { return new(core.ServiceAccount) },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return new(networking.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":           func() any { return new(policy.PodDisruptionBudget) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return new(serviceMonitor) },
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	count, failed := 0, false
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		name, err := check(document)
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		}
		count++
	}
	if failed || count == 0 {
		os.Exit(1)
	}
	fmt.Printf("%d manifests are valid\n", count)
}

// check decodes one document and refuses unknown fields.
func check(document []byte) (string, error) {
	var kind struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.ObjectMeta `json:"metadata"`
	}
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return "document", err
	}
	name := kind.APIVersion + " " + kind.Kind
	create, known := kinds[name]
	if !known {
		return name, fmt.Errorf("unknown kind")
	}
	if kind.Metadata.Name == "" {
		return name, fmt.Errorf("it has no name")
	}
	return name + " " + kind.Metadata.Name, yaml.UnmarshalStrict(document, create())
}
