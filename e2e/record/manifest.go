package record

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/rights"
)

// roleName is the name of the ClusterRole, and of all that Manifest has.
const roleName = "plumbline-record"

// Role returns the ClusterRole that a recording needs, as YAML. Nothing in it allows a change, nor Secrets or
// ConfigMaps.
func Role(all []rights.Right) (string, error) {
	role := rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: roleName},
	}
	for _, r := range all {
		rule := rbacv1.PolicyRule{
			APIGroups: []string{r.Group}, Resources: strings.Fields(r.Resources), Verbs: strings.Fields(r.Verbs),
		}
		if r.Name != "" {
			rule.ResourceNames = []string{r.Name}
		}
		role.Rules = append(role.Rules, rule)
	}
	text, err := yaml.Marshal(role)
	return string(text), err
}

//go:embed manifest.yaml.tmpl
var manifest string

// Pod says how a recorder runs in the cluster that it records.
type Pod struct {
	Image     string // of this program
	Namespace string // is made, too
	Redact    bool
	Keep      string // what the parts may take, such as 4Gi; the volume has a quarter more
}

// Manifest returns a Deployment that records into a volume, with the Role and what else it needs, as YAML.
func Manifest(p Pod, all []rights.Right) (string, error) {
	role, err := Role(all)
	if err != nil {
		return "", err
	}
	keep, err := ParseSize(p.Keep)
	if err != nil {
		return "", err
	}
	t, err := template.New("manifest").Parse(manifest)
	if err != nil {
		return "", fmt.Errorf("the manifest's template: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{
		"Name": roleName, "Pod": p, "Role": role, "Volume": fmt.Sprintf("%dMi", keep/4*5>>20),
	})
	return out.String(), err
}
