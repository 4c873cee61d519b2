package providers

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/mod/semver"
)

// Values are the values that templates in controller.image, env, chart values and
// manifests can use, as in {{.Image.Tag}}. Templates are those of text/template:
// {{slice .Version 1}} is the version without its v. {{env "NAME"}} is a variable of
// the harness's own environment; it is empty if the variable isn't set.
type Values struct {
	Version     string // release of the source module, such as v1.15.0
	ClusterName string
	Endpoint    string // URL of the API server
	Namespace   string // the controller's
	Image       ImageName
	Ports       map[string]int // as declared in controller.ports, and as allocated
	Simulator   string         // host:port where it listens; empty without one
	CA          string         // certificate of the simulator's CA, in PEM; empty unless it serves TLS
	CAFile      string         // path of the same in the controller's container
	// Management is the kubeconfig of the management cluster, and ManagementFile its path in the
	// containers. Both are empty without one.
	Management, ManagementFile string
}

// ManagementFolder is where controllers and simulators find the management cluster's kubeconfig.
const ManagementFolder = OwnFolder + "/management"

// CAFolder is where simulators find their CA, and controllers its certificate.
const CAFolder = OwnFolder + "/ca"

// WithCA returns the values with the certificate of the simulator's CA.
func (v Values) WithCA(cert string) Values {
	v.CA, v.CAFile = cert, CAFolder+"/ca.crt"
	return v
}

// ImageName is the name under which the cluster knows the loaded image.
type ImageName struct {
	Name       string // all of it
	Repository string // without tag and digest
	Tag        string // empty if it has none
	Digest     string // such as sha256:..., empty if it has none
}

// ParseImageName splits the name of an image. A colon before the last slash belongs to a port.
func ParseImageName(name string) ImageName {
	repository, digest, _ := strings.Cut(name, "@")
	tag := ""
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository, tag = repository[:i], repository[i+1:]
	}
	return ImageName{Name: name, Repository: repository, Tag: tag, Digest: digest}
}

// SampleValues returns values with which templates are tried before there is a cluster.
func (a *Adapter) SampleValues(version string) Values {
	if !semver.IsValid(version) { // none, or a branch
		version = "v1.0.0"
	}
	v := Values{
		Version:     version,
		ClusterName: defaultClusterName,
		Endpoint:    "https://127.0.0.1:6443",
		Namespace:   a.Controller.namespace(),
		Image:       ParseImageName("registry.example/controller:tag"),
		Ports:       a.Controller.Ports,
	}
	if a.Simulator != nil {
		v.Simulator = net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Simulator.Port))
	}
	if a.Management != nil {
		v.ManagementFile = ManagementFolder + "/kubeconfig"
	}
	if a.Simulator.HasCA() {
		v = v.WithCA("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
	}
	return v
}

// functions returns the functions that templates have beside those of text/template.
func functions() template.FuncMap { return template.FuncMap{"env": os.Getenv} }

// Expand executes the template in s.
func Expand(s string, values any) (string, error) {
	if !strings.Contains(s, "{{") {
		return s, nil
	}
	t, err := template.New("").Option("missingkey=error").Funcs(functions()).Parse(s)
	if err != nil {
		return "", fmt.Errorf("not a template: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	var out strings.Builder
	if err := t.Execute(&out, values); err != nil {
		return "", unknownField(err, values)
	}
	return out.String(), nil
}

var fieldError = regexp.MustCompile(`at <\$?([\w.]+)>: (?:can't evaluate field|map has no entry for key)`)

// unknownField lists the known fields if err is about an unknown one.
func unknownField(err error, values any) error {
	parts := fieldError.FindStringSubmatch(err.Error())
	if parts == nil {
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner // what wraps it only repeats the template
		}
		return fmt.Errorf("the template failed: %w", err)
	}
	return fmt.Errorf("unknown template field `%s`%s", parts[1], hint(parts[1], fieldsOf(reflect.ValueOf(values), "")))
}

// fieldsOf lists the fields of v that a template can use.
func fieldsOf(v reflect.Value, prefix string) []string {
	switch v.Kind() {
	case reflect.Struct:
		var names []string
		for i := range v.NumField() {
			names = append(names, fieldsOf(v.Field(i), prefix+"."+v.Type().Field(i).Name)...)
		}
		return names
	case reflect.Map:
		var names []string
		for _, key := range v.MapKeys() {
			names = append(names, fieldsOf(v.MapIndex(key), prefix+"."+key.String())...)
		}
		slices.Sort(names)
		return names
	default:
		return []string{prefix}
	}
}

var lonePort = regexp.MustCompile(`^\{\{\s*\.Ports\.\w+\s*\}\}$`)

// ExpandAll expands every string in a mapping of the adapter. The path says where in the
// adapter the mapping is. The error names each string that fails, with its path.
func ExpandAll(m map[string]any, path string, values any) (map[string]any, error) {
	var failed error
	expanded, _ := expandAll(jsonOf(m), path, values, func(at string, err error) {
		failed = errors.Join(failed, fmt.Errorf("%s: %w", at, err))
	}).(map[string]any)
	return expanded, failed
}

// expandAll expands every string in x, which consists of maps, lists and scalars. It
// calls complain for each string that fails.
func expandAll(x any, path string, values any, complain func(path string, err error)) any {
	switch x := x.(type) {
	case string:
		s, err := Expand(x, values)
		if err != nil {
			complain(path, err)
		}
		if n, err := strconv.ParseInt(s, 10, 32); err == nil && lonePort.MatchString(x) {
			return n
		}
		return s
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, key := range slices.Sorted(maps.Keys(x)) {
			out[key] = expandAll(x[key], join(path, key), values, complain)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = expandAll(x[i], fmt.Sprintf("%s[%d]", path, i), values, complain)
		}
		return out
	default:
		return x
	}
}
