package providers

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestImageName(t *testing.T) {
	for name, want := range map[string]ImageName{
		"kwok":                       {Repository: "kwok"},
		"localhost:5000/acme/kwok":   {Repository: "localhost:5000/acme/kwok"},
		"localhost:5000/kwok:v1":     {Repository: "localhost:5000/kwok", Tag: "v1"},
		"acme/kwok:v1@sha256:abc":    {Repository: "acme/kwok", Tag: "v1", Digest: "sha256:abc"},
		"registry:80/kwok@sha256:ab": {Repository: "registry:80/kwok", Digest: "sha256:ab"},
	} {
		want.Name = name
		NewWithT(t).Expect(ParseImageName(name)).To(Equal(want))
	}
}

func TestExpand(t *testing.T) {
	t.Setenv("SUBJECT", "world")
	values := Values{Version: "v1.14.0", ClusterName: "lab", Ports: map[string]int{"metrics": 8080}}
	for text, want := range map[string]string{
		"plain":                      "plain",
		"{{.ClusterName}}-x":         "lab-x",
		"acme:{{slice .Version 1}}":  "acme:1.14.0",
		"http://:{{.Ports.metrics}}": "http://:8080",
		`{{env "SUBJECT"}}`:          "world",
		`{{env "NOBODY_SETS_THIS"}}`: "",
	} {
		NewWithT(t).Expect(Expand(text, values)).To(Equal(want))
	}
	for text, want := range map[string]string{
		"{{.ClusterNme}}": "unknown template field `.ClusterNme`, did you mean `.ClusterName`?",
		"{{.Image.Tga}}":  "unknown template field `.Image.Tga`, did you mean `.Image.Tag`?",
		"{{.Ports.health}}": "unknown template field `.Ports.health`; known are .Version, .ClusterName, .Endpoint, " +
			".Namespace, .Image.Name, .Image.Repository, .Image.Tag, .Image.Digest, .Ports.metrics, .Simulator, .CA, .CAFile, " +
			".Management, .ManagementFile",
		"{{slice .Version 9}}": "the template failed: index out of range: 9",
		"{{.ClusterName":       "not a template: :1: unclosed action",
	} {
		_, err := Expand(text, values)
		NewWithT(t).Expect(err).To(MatchError(want))
	}
}

func TestExpandAllKeepsTypes(t *testing.T) {
	values := Values{Version: "12", Ports: map[string]int{"metrics": 8080}}
	got := expandAll(map[string]any{
		"port": "{{ .Ports.metrics }}", "address": ":{{.Ports.metrics}}", "tag": "{{.Version}}",
		"list": []any{true, int64(3), "{{.Version}}"},
	}, "", values, func(at string, err error) { t.Errorf("%s: %v", at, err) })
	NewWithT(t).Expect(got).To(Equal(map[string]any{
		"port": int64(8080), "address": ":8080", "tag": "12", "list": []any{true, int64(3), "12"},
	}))
}
