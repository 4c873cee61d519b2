package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request describes a request to the API server in the words of RBAC.
type Request struct {
	Verb        string // get, list, watch, create, update, patch, delete or deletecollection
	Group       string // of the resource; empty: core
	Resource    string // such as nodeclaims; empty: the request is about no resource
	Subresource string // such as status; empty: the object itself
	Namespace   string
	Name        string // of the object; empty if the path has none, as that of a create

	body string // read only where a fault selects by it
}

func (r Request) String() string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{r.Verb, r.kind(), r.Name},
		func(word string) bool { return word == "" }), " "))
}

// kind returns the resource and the subresource as RBAC writes them, such as nodeclaims/status.
func (r Request) kind() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// Kind returns the request without the object's name, such as "patch nodeclaims.karpenter.sh/status". That of a call
// to a simulated cloud is "call ec2:CreateFleet".
func (r Request) Kind() string {
	kind := r.Verb + " " + schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
	if r.Subresource != "" {
		kind += "/" + r.Subresource
	}
	return kind
}

// requestOf reads a request's line. Paths are those of
// https://kubernetes.io/docs/reference/using-api/api-concepts, "Resource URIs".
func requestOf(r *http.Request) Request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var request Request
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		request.Group, parts = parts[1], parts[3:]
	default:
		return Request{Verb: strings.ToLower(r.Method)}
	}
	if parts[0] == "namespaces" && len(parts) >= 3 && !ofNamespaces[parts[2]] {
		request.Namespace, parts = parts[1], parts[2:]
	}
	request.Resource = parts[0]
	if len(parts) > 1 {
		request.Name = parts[1]
	}
	if len(parts) > 2 {
		request.Subresource = parts[2]
	}
	request.Verb = verbOf(r, request.Name != "")
	return request
}

// ofNamespaces holds the subresources of namespaces. What else follows a namespace's name is a resource in it.
var ofNamespaces = map[string]bool{"status": true, "finalize": true}

func verbOf(r *http.Request, named bool) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodPatch:
		return "patch"
	case r.Method == http.MethodDelete && named:
		return "delete"
	case r.Method == http.MethodDelete:
		return "deletecollection"
	case watch == "true" || watch == "1":
		return "watch"
	case named:
		return "get"
	default:
		return "list"
	}
}

// writes are the verbs that change objects.
var writes = []string{"create", "update", "patch", "delete", "deletecollection"}

// reads are the verbs that don't.
var reads = []string{"get", "list", "watch"}

// isWrite reports whether a request changes an object that says something of the world. Leases and Events don't.
func (r Request) isWrite() bool {
	return slices.Contains(writes, r.Verb) && r.Resource != "" && !r.isOfLease() && r.Resource != "events"
}

// isOfLease reports whether a request is about leases, by which leaders are elected.
func (r Request) isOfLease() bool { return r.Resource == "leases" }

// Requests selects requests. The zero value selects all that reach the API server.
type Requests struct {
	call        string   // to the simulated cloud; empty: requests to the API server
	verbs       []string // empty: any
	resource    schema.GroupResource
	subresource string
	name        string
	field       string
	first       int // the first of the matching requests that is meant, from 1; 0 is 1
}

// On selects the requests for a resource with a verb of RBAC's. Those for subresources are not among them.
func On(verb string, resource schema.GroupVersionResource) Requests {
	return Requests{verbs: []string{verb}, resource: resource.GroupResource()}
}

// Writes selects the requests that create, change or delete objects of a resource, but not its subresources.
func Writes(resource schema.GroupVersionResource) Requests {
	return Requests{verbs: writes, resource: resource.GroupResource()}
}

// ParseKind returns the requests of a kind, see Request.Kind.
func ParseKind(kind string) (Requests, error) {
	if on, is := callOf(kind); is {
		return on, nil
	}
	verb, rest, found := strings.Cut(kind, " ")
	resource, subresource, _ := strings.Cut(rest, "/")
	if !found || resource == "" || strings.Contains(rest, " ") {
		return Requests{}, fmt.Errorf("%q is no kind of requests, such as \"patch nodeclaims.karpenter.sh/status\"", kind)
	}
	r := Requests{verbs: []string{verb}, resource: schema.ParseGroupResource(resource), subresource: subresource}
	if wrong := r.check(); len(wrong) > 0 {
		return Requests{}, fmt.Errorf("%q: %s", kind, strings.Join(wrong, "; "))
	}
	return r, nil
}

// Status selects the requests for the status of objects instead.
func (r Requests) Status() Requests { return r.Subresource("status") }

// Subresource selects the requests for a subresource instead, such as eviction.
func (r Requests) Subresource(name string) Requests {
	r.subresource = name
	return r
}

// Named selects only the requests for one object. A create names none.
func (r Requests) Named(name string) Requests {
	r.name = name
	return r
}

// Setting selects only the requests whose body has a field of a name, such as providerID. The body must be JSON, as
// it is for all custom resources.
func (r Requests) Setting(field string) Requests {
	r.field = field
	return r
}

// Nth passes over the first n-1 matching requests. They are counted from when the fault begins.
func (r Requests) Nth(n int) Requests {
	r.first = n
	return r
}

// Resource returns the resource that is selected; the zero value: any.
func (r Requests) Resource() schema.GroupResource { return r.resource }

func (r Requests) matches(q Request) bool {
	return (len(r.verbs) == 0 || slices.Contains(r.verbs, q.Verb)) && r.concerns(q) &&
		(r.name == "" || r.name == q.Name) && (r.field == "" || strings.Contains(q.body, `"`+r.field+`":`))
}

// concerns reports whether a request is about the resource that is selected.
func (r Requests) concerns(q Request) bool {
	return r.resource.Empty() ||
		r.resource.Resource == q.Resource && r.resource.Group == q.Group && r.subresource == q.Subresource
}

func (r Requests) String() string {
	var words []string
	if r.first > 1 {
		words = append(words, fmt.Sprintf("request %d to", r.first))
	}
	switch {
	case r.call != "":
		return strings.Join(append(words, ofCall, r.call), " ")
	case slices.Equal(r.verbs, writes):
		words = append(words, "write")
	case len(r.verbs) > 0:
		words = append(words, strings.Join(r.verbs, " or "))
	default:
		words = append(words, "any request for")
	}
	kind := Request{Resource: cmp.Or(r.resource.Resource, "anything"), Subresource: r.subresource}.kind()
	words = append(words, kind)
	if r.name != "" {
		words = append(words, r.name)
	}
	if r.field != "" {
		words = append(words, "that sets "+r.field)
	}
	return strings.Join(words, " ")
}

// check returns what is wrong with the selection.
func (r Requests) check() []string {
	var wrong []string
	for _, verb := range r.verbs {
		if all := slices.Concat(reads, writes); !slices.Contains(all, verb) {
			wrong = append(wrong, fmt.Sprintf("there is no verb %q, only %s", verb, strings.Join(all, ", ")))
		}
	}
	if r.first < 0 {
		wrong = append(wrong, fmt.Sprintf("requests are counted from 1: there is none with number %d", r.first))
	}
	if r.name != "" && slices.Equal(r.verbs, []string{"create"}) {
		wrong = append(wrong, "a create names no object, so none can be selected by its name "+r.name)
	}
	if r.subresource != "" && r.resource.Empty() {
		wrong = append(wrong, fmt.Sprintf("the subresource %s is of no resource", r.subresource))
	}
	return wrong
}
