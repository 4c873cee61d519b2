package wire

import (
	"context"
	"crypto/md5" //nolint:gosec // SQS sums messages by it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// ssmActions returns the actions of Systems Manager.
func ssmActions() map[string]serves {
	return map[string]serves{"GetParameter": document(getParameter)}
}

type getParameterRequest struct{ Name string }

type getParameterAnswer struct{ Parameter parameter }

type parameter struct {
	Name, Type, Value string
	Version           int
}

func getParameter(_ context.Context, s *Server, r getParameterRequest) (getParameterAnswer, error) {
	value, err := s.cloud.Parameter(r.Name)
	return getParameterAnswer{parameter{Name: r.Name, Type: "String", Value: value, Version: 1}}, err
}

func pricingActions() map[string]serves {
	return map[string]serves{"GetProducts": document(getProducts)}
}

type getProductsRequest struct {
	MaxResults int
	NextToken  string
	Filters    []struct{ Field, Value string }
}

type getProductsAnswer struct {
	FormatVersion string
	PriceList     []string
	NextToken     string `json:",omitempty"`
}

func getProducts(_ context.Context, s *Server, r getProductsRequest) (a getProductsAnswer, err error) {
	a.FormatVersion = "aws_v1"
	var all []string
	for _, t := range s.cloud.Types() {
		attributes := product(t, s.cloud.Region())
		matches := true
		for _, f := range r.Filters {
			matches = matches && attributes[f.Field] == f.Value
		}
		if !matches {
			continue
		}
		text, err := json.Marshal(priceOf(attributes, t.Price))
		if err != nil {
			return a, err
		}
		all = append(all, string(text))
	}
	a.PriceList, a.NextToken, err = page(all, paging{r.MaxResults, r.NextToken}, 100)
	return a, err
}

// product returns the price list's attributes of Linux on an instance type.
func product(t *cloud.Type, region string) map[string]string {
	attributes := map[string]string{
		"instanceType": t.Name, "regionCode": region, "serviceCode": "AmazonEC2", "preInstalledSw": "NA",
		"operatingSystem": "Linux",
		"capacitystatus":  "Used", "marketoption": "OnDemand", "tenancy": "Shared", "productFamily": "Compute Instance",
	}
	if t.Metal() {
		attributes["tenancy"], attributes["productFamily"] = "Dedicated", "Compute Instance (bare metal)"
	}
	return attributes
}

// priceOf returns an entry of the price list, with AWS's nesting of terms.
func priceOf(attributes map[string]string, price float64) map[string]any {
	sku := "SKU" + attributes["instanceType"]
	dimension := map[string]any{
		"unit":         "Hrs",
		"pricePerUnit": map[string]string{"USD": strconv.FormatFloat(price, 'f', 10, 64)},
	}
	term := map[string]any{"priceDimensions": map[string]any{sku + ".JRTCKXETXF.6YS6EN2CT7": dimension}}
	return map[string]any{
		"serviceCode": "AmazonEC2", "product": map[string]any{
			"sku": sku, "productFamily": attributes["productFamily"],
			"attributes": attributes,
		},
		"terms": map[string]any{"OnDemand": map[string]any{sku + ".JRTCKXETXF": term}},
	}
}

func sqsActions() map[string]serves {
	return map[string]serves{
		"GetQueueUrl":    document(getQueueURL),
		"ReceiveMessage": document(receiveMessage),
		"DeleteMessage":  document(deleteMessage),
		"SendMessage":    document(sendMessage),
	}
}

func (s *Server) checkQueue(name string) error {
	if name != s.queue {
		return &cloud.Error{
			Code: "com.amazonaws.sqs#QueueDoesNotExist", Message: "The specified queue does not exist.",
			Status: http.StatusBadRequest,
		}
	}
	return nil
}

type queueRequest struct {
	QueueName           string
	QueueURL            string `json:"QueueUrl"`
	MaxNumberOfMessages int
	VisibilityTimeout   *int
	WaitTimeSeconds     int
	ReceiptHandle       string
	MessageBody         string
}

type queueAnswer struct {
	QueueURL string `json:"QueueUrl"`
}

func getQueueURL(_ context.Context, s *Server, r queueRequest) (queueAnswer, error) {
	// The SDK ignores this host and calls its endpoint.
	return queueAnswer{"https://sqs." + s.cloud.Region() + ".amazonaws.com/" + s.cloud.Account() + "/" + r.QueueName},
		s.checkQueue(r.QueueName)
}

type messages struct {
	Messages []message `json:",omitempty"`
}

type message struct {
	MessageID     string `json:"MessageId"`
	ReceiptHandle string
	Body          string
	MD5OfBody     string
	Attributes    map[string]string
}

// visibility is the default time for which a received message is hidden, in seconds.
const visibility = 30

func receiveMessage(ctx context.Context, s *Server, r queueRequest) (a messages, err error) {
	if err := s.checkQueue(path.Base(r.QueueURL)); err != nil {
		return a, err
	}
	if most := r.MaxNumberOfMessages; most < 0 || most > 10 {
		return a, &cloud.Error{
			Code: "com.amazonaws.sqs#InvalidParameterValue", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, "+
				"if provided.", most),
		}
	}
	hidden := visibility
	if r.VisibilityTimeout != nil {
		hidden = *r.VisibilityTimeout
	}
	for _, m := range s.cloud.Receive(ctx, max(r.MaxNumberOfMessages, 1), time.Duration(hidden)*time.Second,
		time.Duration(r.WaitTimeSeconds)*time.Second) {
		a.Messages = append(a.Messages, message{
			MessageID: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, MD5OfBody: sum(m.Body),
			Attributes: map[string]string{"SentTimestamp": strconv.FormatInt(m.Sent.UnixMilli(), 10)},
		})
	}
	return a, nil
}

func sum(body string) string {
	s := md5.Sum([]byte(body)) //nolint:gosec // as above
	return hex.EncodeToString(s[:])
}

func deleteMessage(_ context.Context, s *Server, r queueRequest) (nothing, error) {
	s.cloud.Delete(r.ReceiptHandle)
	return nothing{}, s.checkQueue(path.Base(r.QueueURL))
}

type sendAnswer struct {
	MessageID        string `json:"MessageId"`
	MD5OfMessageBody string
}

func sendMessage(_ context.Context, s *Server, r queueRequest) (sendAnswer, error) {
	if err := s.checkQueue(path.Base(r.QueueURL)); err != nil {
		return sendAnswer{}, err
	}
	return sendAnswer{s.cloud.Send(r.MessageBody), sum(r.MessageBody)}, nil
}

// describeCluster is the only action of EKS that Karpenter calls.
const describeCluster = "DescribeCluster"

func eksActions() map[string]serves {
	return map[string]serves{describeCluster: func(_ context.Context, s *Server, r *request) (any, []string, error) {
		answer, err := s.describeCluster(path.Base(r.http.URL.Path))
		return answer, nil, err
	}}
}

// restAction returns the action of a REST request, or its method and path if it is unknown.
func restAction(method, target string) string {
	if matched, err := path.Match("/clusters/*", target); err == nil && matched && method == http.MethodGet {
		return describeCluster
	}
	return method + " " + target
}

func (s *Server) describeCluster(name string) (any, error) {
	if name != s.cluster.Name {
		return nil, &cloud.Error{
			Code: "ResourceNotFoundException", Message: "No cluster found for name: " + name + ".",
			Status: http.StatusNotFound,
		}
	}
	return map[string]any{"cluster": map[string]any{
		"name": name, "status": "ACTIVE", "endpoint": s.cluster.Endpoint, "version": s.cluster.Version,
		"arn":                     "arn:aws:eks:" + s.cloud.Region() + ":" + s.cloud.Account() + ":cluster/" + name,
		"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": s.cluster.CIDR, "ipFamily": "ipv4"},
	}}, nil
}
