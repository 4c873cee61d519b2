package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Cluster holds what EKS returns about the cluster.
type Cluster struct {
	Name     string
	Endpoint string // URL of the API server
	Version  string // such as 1.36
	CIDR     string // of services, such as 10.0.0.0/16
}

// Server answers requests to the services of a region.
type Server struct {
	base     *simulator.Base
	cloud    *cloud.Cloud
	cluster  Cluster
	queue    string // name of the only queue
	services map[string]service
	requests atomic.Int64
}

// New returns a server for a region with that cluster and a queue of that name.
func New(b *simulator.Base, c *cloud.Cloud, cluster Cluster, queue string) *Server {
	s := &Server{base: b, cloud: c, cluster: cluster, queue: queue, services: services()}
	for name, of := range s.services {
		for action := range of.actions {
			b.Faults.Know(name + ":" + action)
		}
	}
	return s
}

type request struct {
	service, action string
	id              string
	body            []byte
	form            url.Values // of the Query protocol
	http            *http.Request
}

// name returns the call's name in the journal.
func (r *request) name() string { return r.service + ":" + r.action }

// protocol is a service's format of answers and errors.
type protocol interface {
	answer(w http.ResponseWriter, r *request, id string, v any) error
	refuse(w http.ResponseWriter, r *request, id string, e *cloud.Error) error
}

// serves is an action. It returns the answer and the parameters that it ignored.
type serves func(ctx context.Context, s *Server, r *request) (answer any, ignored []string, err error)

type service struct {
	protocol protocol
	actions  map[string]serves
}

// services returns AWS's services by their names in signatures.
func services() map[string]service {
	return map[string]service{
		"ec2":     {ec2Protocol{}, ec2Actions()},
		"iam":     {iamProtocol{}, iamActions()},
		"ssm":     {jsonProtocol{"1.1"}, ssmActions()},
		"pricing": {jsonProtocol{"1.1"}, pricingActions()},
		"sqs":     {jsonProtocol{"1.0"}, sqsActions()},
		"eks":     {restProtocol{}, eksActions()},
	}
}

// scope matches the part of a signature that names the service.
var scope = regexp.MustCompile(`Credential=[^/]+/[^/]+/[^/]+/([^/]+)/`)

// ServeHTTP answers a request, subject to faults.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return // the client has gone
	}
	r := &request{http: h, body: body, id: fmt.Sprintf("00000000-0000-4000-8000-%012x", s.requests.Add(1))}
	if parts := scope.FindStringSubmatch(h.Header.Get("Authorization")); parts != nil {
		r.service = parts[1]
	}
	r.action = actionOf(r)
	to, there := s.services[r.service]
	if !there {
		to.protocol = restProtocol{}
	}
	w.Header().Set("X-Amzn-Requestid", r.id)
	unknown := cloud.Error{Status: http.StatusBadRequest, Code: "InvalidAction"}
	if r.service == "" {
		unknown.Message = "the request is not signed: its header Authorization names no service, as in " +
			"Credential=x/20260101/us-east-1/ec2/aws4_request"
	}
	var do simulator.Call
	if act, known := to.actions[r.action]; known {
		do = func(h *http.Request) (any, error) {
			answer, ignored, err := act(h.Context(), s, r)
			for _, parameter := range ignored {
				s.base.Journal.CountIgnored(r.name(), parameter)
			}
			return answer, err
		}
	}
	api := &simulator.API{
		Base: s.base, Refusals: refusals, Unknown: unknown,
		Write: func(w http.ResponseWriter, _ *http.Request, answer any, e *cloud.Error) {
			var err error
			if e != nil {
				e = simulator.Errorf(e.Status, cmp.Or(e.Code, "InternalFailure"), "%s", e.Message)
				err = to.protocol.refuse(w, r, r.id, e)
			} else {
				err = to.protocol.answer(w, r, r.id, answer)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		},
	}
	api.Serve(w, h, r.name(), do)
}

// refusals holds the errors that faults answer.
var refusals = map[simulator.Kind]*cloud.Error{
	simulator.Throttle: {
		Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: http.StatusServiceUnavailable,
	},
	simulator.Denied: {
		Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation.",
		Status: http.StatusForbidden,
	},
	simulator.Failed:        internalError(),
	simulator.FailedYetDone: internalError(),
}

// internalError is https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, "Server errors".
func internalError() *cloud.Error {
	return simulator.Errorf(http.StatusInternalServerError, "InternalError", "An internal error has occurred.")
}

// actionOf returns the name of a request's action. Its place depends on the protocol.
func actionOf(r *request) string {
	if target := r.http.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndex(target, ".")+1:]
	}
	if form, err := url.ParseQuery(string(r.body)); err == nil && form.Has("Action") {
		r.form = form
		return form.Get("Action")
	}
	return restAction(r.http.Method, r.http.URL.Path)
}

// query returns an action of the Query protocol. It decodes the parameters into a Request.
func query[Request, Answer any](f func(c *cloud.Cloud, r Request) (Answer, error)) serves {
	return func(_ context.Context, s *Server, r *request) (any, []string, error) {
		var in Request
		ignored := decode(r.form, &in)
		answer, err := f(s.cloud, in)
		return answer, ignored, err
	}
}

// document returns an action with a JSON object as its parameters.
func document[Request, Answer any](f func(ctx context.Context, s *Server, r Request) (Answer, error)) serves {
	return func(ctx context.Context, s *Server, r *request) (any, []string, error) {
		var in Request
		if err := json.Unmarshal(r.body, &in); err != nil && len(r.body) > 0 {
			return nil, nil, &cloud.Error{Code: "SerializationException", Message: err.Error(), Status: http.StatusBadRequest}
		}
		answer, err := f(ctx, s, in)
		return answer, nil, err
	}
}

// ec2Protocol is https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html.
type ec2Protocol struct{}

func (ec2Protocol) answer(w http.ResponseWriter, r *request, id string, v any) error {
	type response struct {
		RequestID string `xml:"requestId"`
		Answer    []byte `xml:",innerxml"`
	}
	fields, err := fieldsOf(v)
	if err != nil {
		return err
	}
	return writeXML(w, http.StatusOK, r.action+"Response", "http://ec2.amazonaws.com/doc/2016-11-15/",
		response{id, fields})
}

func (ec2Protocol) refuse(w http.ResponseWriter, _ *request, id string, e *cloud.Error) error {
	type response struct {
		Code      string `xml:"Errors>Error>Code"`
		Message   string `xml:"Errors>Error>Message"`
		RequestID string
	}
	return writeXML(w, e.Status, "Response", "", response{e.Code, e.Message, id})
}

// iamProtocol is https://smithy.io/2.0/aws/protocols/aws-query-protocol.html.
type iamProtocol struct{}

func (iamProtocol) answer(w http.ResponseWriter, r *request, id string, v any) error {
	type result struct {
		XMLName xml.Name
		Answer  []byte `xml:",innerxml"`
	}
	type response struct {
		Result    result
		RequestID string `xml:"ResponseMetadata>RequestId"`
	}
	fields, err := fieldsOf(v)
	if err != nil {
		return err
	}
	return writeXML(w, http.StatusOK, r.action+"Response", "https://iam.amazonaws.com/doc/2010-05-08/",
		response{result{xml.Name{Local: r.action + "Result"}, fields}, id})
}

func (iamProtocol) refuse(w http.ResponseWriter, _ *request, id string, e *cloud.Error) error {
	type failure struct{ Type, Code, Message string }
	type response struct {
		Error     failure
		RequestID string `xml:"RequestId"`
	}
	return writeXML(w, e.Status, "ErrorResponse", "", response{failure{"Sender", e.Code, e.Message}, id})
}

// fieldsOf returns a struct as XML, without the enclosing element.
func fieldsOf(v any) ([]byte, error) {
	var out bytes.Buffer
	if err := xml.NewEncoder(&out).EncodeElement(v, xml.StartElement{Name: xml.Name{Local: "x"}}); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(out.Bytes(), []byte("<x>")), []byte("</x>")), nil
}

func writeXML(w http.ResponseWriter, status int, root, space string, v any) error {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return nil //nolint:nilerr // whoever asked has gone
	}
	start := xml.StartElement{Name: xml.Name{Local: root}}
	if space != "" {
		start.Attr = []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: space}}
	}
	return xml.NewEncoder(w).EncodeElement(v, start)
}

// jsonProtocol is https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html, or 1.0.
type jsonProtocol struct{ version string }

func (p jsonProtocol) answer(w http.ResponseWriter, _ *request, _ string, v any) error {
	return writeJSON(w, http.StatusOK, "application/x-amz-json-"+p.version, v)
}

func (p jsonProtocol) refuse(w http.ResponseWriter, _ *request, _ string, e *cloud.Error) error {
	return writeJSON(w, e.Status, "application/x-amz-json-"+p.version,
		map[string]string{"__type": e.Code, "message": e.Message})
}

// restProtocol is https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html.
type restProtocol struct{}

func (restProtocol) answer(w http.ResponseWriter, _ *request, _ string, v any) error {
	return writeJSON(w, http.StatusOK, "application/json", v)
}

func (restProtocol) refuse(w http.ResponseWriter, _ *request, _ string, e *cloud.Error) error {
	w.Header().Set("X-Amzn-Errortype", e.Code)
	return writeJSON(w, e.Status, "application/json", map[string]string{"message": e.Message})
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) error {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(v)
}
