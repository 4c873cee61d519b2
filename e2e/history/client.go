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

// client lists and watches, and returns the responses as bytes.
type client struct {
	base    *url.URL
	lists   *http.Client
	watches *http.Client
}

// newClient uses cfg's address, identity and transport. Each watch has its own HTTP/1.1
// connection: on a shared HTTP/2 connection one broken watch breaks all, and the framing costs
// more than the events.
func newClient(cfg *rest.Config) (*client, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = 0 // it would end every watch
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

// list returns the body of a list of all objects. Other statuses than 200 are an
// *apierrors.StatusError.
func (c *client) list(ctx context.Context, r schema.GroupVersionResource) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json", nil)
}

// listAt lists the objects that there were at a revision. The API server has it from etcd, until that forgets it.
func (c *client) listAt(ctx context.Context, r schema.GroupVersionResource, revision uint64) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json", url.Values{
		"resourceVersion":      {strconv.FormatUint(revision, 10)},
		"resourceVersionMatch": {string(metav1.ResourceVersionMatchExact)},
	})
}

// listOne lists at most one object, to get the resourceVersion of the list.
func (c *client) listOne(ctx context.Context, r schema.GroupVersionResource) (io.ReadCloser, error) {
	return c.get(ctx, c.lists, r, "application/json", url.Values{"limit": {"1"}})
}

// names lists the metadata of all objects, as a PartialObjectMetadataList.
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

func (c *client) get(ctx context.Context, by *http.Client, r schema.GroupVersionResource, accept string,
	query url.Values,
) (io.ReadCloser, error) {
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
		return nil, err // it has the method and URL
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, statusOf(resp, r)
	}
	return resp.Body, nil
}

// readAll decodes a response and closes it. It reads to the end, because otherwise the
// connection is not reused and every list costs a handshake.
func readAll(body io.ReadCloser, into any) error {
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// statusOf returns the error for a response other than 200, from its body or status code.
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
	return apierrors.NewGenericServerResponse(resp.StatusCode, http.MethodGet, r.GroupResource(), "",
		string(body), wait, true)
}

// isGone reports whether a resourceVersion is too old to resume from.
func isGone(err error) bool {
	return apierrors.IsGone(err) || apierrors.IsResourceExpired(err)
}

// isFinal reports whether a retry can't help.
func isFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err) || isTrust(err)
}

// retryAfter returns the server's Retry-After; 0 if there is none.
func retryAfter(err error) time.Duration {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return 0
	}
	return min(time.Duration(status.Status().Details.RetryAfterSeconds)*time.Second, maxRetryAfter)
}
