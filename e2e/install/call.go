package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// ErrNoHook means that the adapter lacks a hook. Specs that need the hook are then skipped.
var ErrNoHook = errors.New("the adapter has no such hook")

// Call runs a hook and returns its answer: the HTTP body, the command's output, or the patched
// object as JSON. An HTTP status from 400 or a nonzero exit code is an error.
func (i *Installed) Call(ctx context.Context, name providers.HookName, v providers.HookValues) ([]byte, error) {
	h, there := i.adapter.Hooks[name]
	if !there {
		return nil, fmt.Errorf("hook %s of %s: %w", name, i.adapter.Name, ErrNoHook)
	}
	return i.call(ctx, string(name), h, v)
}

// Drift runs the adapter's hook that makes the NodeClass's nodes drift for a reason.
func (i *Installed) Drift(ctx context.Context, reason string, v providers.HookValues) ([]byte, error) {
	h, there := i.adapter.Drifts[reason]
	if !there {
		return nil, fmt.Errorf("drift %s of %s: %w", reason, i.adapter.Name, ErrNoHook)
	}
	return i.call(ctx, "drift "+reason, h, v)
}

func (i *Installed) call(ctx context.Context, name string, h providers.Hook, v providers.HookValues) ([]byte, error) {
	if i.simulator != nil {
		v.Simulator = i.simulator.address
	}
	var answer []byte
	var err error
	switch {
	case h.HTTP != nil:
		answer, err = i.send(ctx, h.HTTP, v)
	case h.Patch != nil:
		answer, err = i.patchNodeClass(ctx, h, v)
	case h.PatchNode != nil:
		answer, err = i.patchNode(ctx, h, v)
	case h.PatchNodeClaim != nil:
		answer, err = i.patchNodeClaim(ctx, h, v)
	case h.RemoveNode:
		err = i.removeNode(ctx, v.NodeName)
	default:
		answer, err = runCommand(ctx, i.adapter.Dir, h.Exec, v)
	}
	if err != nil {
		return answer, fmt.Errorf("hook %s of %s: %w", name, i.adapter.Name, err)
	}
	return answer, nil
}

// Instances returns the provider IDs that the hook ListInstances answers, or ErrNoHook.
func (i *Installed) Instances(ctx context.Context, v providers.HookValues) ([]string, error) {
	answer, err := i.Call(ctx, providers.ListInstances, v)
	if err != nil {
		return nil, err
	}
	var ids []string
	if err := json.Unmarshal(answer, &ids); err != nil {
		return nil, fmt.Errorf("hook %s of %s: its answer %.100q is no JSON list of provider IDs: %w",
			providers.ListInstances, i.adapter.Name, answer, err)
	}
	return ids, nil
}

func (i *Installed) send(ctx context.Context, h *providers.HTTPCall, v providers.HookValues) ([]byte, error) {
	method, text, err := h.Request()
	if err != nil {
		return nil, err
	}
	url, urlErr := providers.Expand(text, v)
	body, bodyErr := providers.Expand(h.Body, v)
	if err := errors.Join(urlErr, bodyErr); err != nil {
		return nil, err
	}
	if strings.HasPrefix(url, "/") {
		return i.simulator.ask(ctx, method, url, body)
	}
	return fetch(ctx, method, url, body)
}

// fetch requests a URL and returns the body. A status of 400 or more is an error.
func fetch(ctx context.Context, method, url, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity") // compression saves nothing on a local connection
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", method, url, response.Status, strings.TrimSpace(string(answer)))
	}
	return answer, err
}

func (i *Installed) patchNodeClass(ctx context.Context, h providers.Hook, v providers.HookValues) ([]byte, error) {
	raw, subresources, err := patchOf(h.Patch, "patch", h.Subresource, v)
	if err != nil {
		return nil, err
	}
	patched, err := i.clients.dynamic.Resource(i.adapter.NodeClassGVR()).
		Patch(ctx, v.NodeClass, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("patching the NodeClass %s: %w", v.NodeClass, err)
	}
	return patched.MarshalJSON()
}

func (i *Installed) patchNode(ctx context.Context, h providers.Hook, v providers.HookValues) ([]byte, error) {
	if v.NodeName == "" {
		return nil, errors.New("patchNode: the hook is called for no node; it must be http, patch or exec")
	}
	raw, subresources, err := patchOf(h.PatchNode, "patchNode", h.Subresource, v)
	if err != nil {
		return nil, err
	}
	patched, err := i.clients.typed.CoreV1().Nodes().Patch(ctx, v.NodeName, types.StrategicMergePatchType, raw,
		metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("patching the node %s: %w", v.NodeName, err)
	}
	return json.Marshal(patched)
}

// patchNodeClaim patches the NodeClaim whose status names the node.
func (i *Installed) patchNodeClaim(ctx context.Context, h providers.Hook, v providers.HookValues) ([]byte, error) {
	raw, subresources, err := patchOf(h.PatchNodeClaim, "patchNodeClaim", h.Subresource, v)
	if err != nil {
		return nil, err
	}
	nodeClaims := i.clients.dynamic.Resource(karpenter.NodeClaims)
	all, err := nodeClaims.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range all.Items {
		if node := karpenter.NodeClaimNode(&c); node == "" || node != v.NodeName {
			continue
		}
		patched, err := nodeClaims.Patch(ctx, c.GetName(), types.MergePatchType, raw,
			metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
		if err != nil {
			return nil, fmt.Errorf("patching the NodeClaim %s: %w", c.GetName(), err)
		}
		return patched.MarshalJSON()
	}
	return nil, fmt.Errorf("patchNodeClaim: no NodeClaim has the node %q", v.NodeName)
}

// patchOf returns a hook's patch as JSON, and the subresource to patch, if any.
func patchOf(patch map[string]any, field, subresource string, v providers.HookValues) (raw []byte,
	subresources []string, err error,
) {
	expanded, err := providers.ExpandAll(patch, field, v)
	if err != nil {
		return nil, nil, err
	}
	if subresource != "" {
		subresources = []string{subresource}
	}
	raw, err = json.Marshal(expanded)
	return raw, subresources, err
}

// removeNode removes a node's finalizers and deletes it. So no controller can delay the
// deletion or see it coming. A node that was being deleted is gone with its finalizers.
func (i *Installed) removeNode(ctx context.Context, name string) error {
	nodes := i.clients.typed.CoreV1().Nodes()
	_, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("releasing node %s: %w", name, err)
	}
	if err := nodes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting node %s: %w", name, err)
	}
	return nil
}

// runCommand runs a command in the adapter's folder.
func runCommand(ctx context.Context, dir string, args []string, v providers.HookValues) ([]byte, error) {
	expanded := make([]string, len(args))
	for n, arg := range args {
		text, err := providers.Expand(arg, v)
		if err != nil {
			return nil, err
		}
		expanded[n] = text
	}
	cmd := exec.CommandContext(ctx, expanded[0], expanded[1:]...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return out, fmt.Errorf("%s: %w: %s", strings.Join(expanded, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
