package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// client asks the API server for lists and watches, as plain bytes.
type client struct {
	base    *url.URL
	lists   *http.Client
	watches *http.Client
}

// newClient uses the configuration's address, identity and transport. Each
// watch gets a connection of its own: on a shared HTTP/2 one a broken watch
// breaks all, and framing costs more than the events.
func newClient(cfg *rest.Config) (*client, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = 0 // would end every watch
	cfg.NextProtos = []string{"http/1.1"}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	c := &client{base: base}
	if c.lists, err = rest.HTTPClientFor(cfg); err != nil {
		return nil, fmt.Errorf("client of the API server: %w", err)
	}
	gathering(cfg)
	if c.watches, err = rest.HTTPClientFor(cfg); err != nil {
		return nil, fmt.Errorf("client of the API server: %w", err)
	}
	return c, nil
}

// list asks for every object of a resource, watch for what happens to them. The
// body is that of a good answer; a bad one is an *apierrors.StatusError.
func (c *client) list(ctx context.Context, r schema.GroupVersionResource) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json", nil)
}

// glance asks for one object of a resource, and so for where its list ends.
func (c *client) glance(ctx context.Context, r schema.GroupVersionResource) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json", url.Values{"limit": {"1"}})
}

// names asks for the metadata of every object of a resource, as a PartialObjectMetadataList.
func (c *client) names(ctx context.Context, r schema.GroupVersionResource) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", nil)
}

func (c *client) watch(ctx context.Context, r schema.GroupVersionResource, from string) (io.ReadCloser, error) {
	return c.get(ctx, c.watches, r, "application/json", url.Values{
		"watch":               {"1"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {from},
		"timeoutSeconds":      {strconv.Itoa(int(watchFor.Seconds()))},
	})
}

func (c *client) get(ctx context.Context, by *http.Client, r schema.GroupVersionResource, accept string, query url.Values) (io.ReadCloser, error) {
	root := "api"
	if r.Group != "" {
		root = "apis"
	}
	u := c.base.JoinPath(root, r.Group, r.Version, r.Resource)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", u, err)
	}
	req.Header.Set("Accept", accept)
	resp, err := by.Do(req)
	if err != nil {
		return nil, err // names method and URL
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, statusOf(resp, r)
	}
	return resp.Body, nil
}

// readAll reads an answer and closes it. It is read to its end, or else its connection
// could not be used again, and every list would cost a handshake.
func readAll(body io.ReadCloser, into any) error {
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// statusOf makes an error of an answer that is none of 200: the Status in its
// body, or what the code says.
func statusOf(resp *http.Response, r schema.GroupVersionResource) error {
	const enough = 64 << 10
	wait, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	body, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	var status metav1.Status
	if err == nil && json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Code != 0 {
		if status.Details == nil {
			status.Details = &metav1.StatusDetails{}
		}
		status.Details.RetryAfterSeconds = max(status.Details.RetryAfterSeconds, int32(wait))
		return &apierrors.StatusError{ErrStatus: status}
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, http.MethodGet, r.GroupResource(), "", string(body), wait, true)
}

// isGone says that a resourceVersion is too old to go on from.
func isGone(err error) bool {
	return apierrors.IsGone(err) || apierrors.IsResourceExpired(err)
}

// isFinal says that asking again won't help.
func isFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err) || isTrust(err)
}

// retryAfter is how long the server asks to be left alone, 0 if it doesn't.
func retryAfter(err error) time.Duration {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return 0
	}
	return min(time.Duration(status.Status().Details.RetryAfterSeconds)*time.Second, maxRetryAfter)
}
