package env

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// PauseKubelets silences the kubelets of all nodes that the provider launches,
// until ResumeKubelets or the end of the spec. What a spec says in their place by
// PatchStatus stays until then; by itself Kubernetes takes minutes to miss them, and
// a node that joins meanwhile is not ready before they are back. The spec is skipped
// where the backend can't.
func (e *Env) PauseKubelets(ctx context.Context) {
	pauser, can := e.place.Cluster.(cluster.Pauser)
	if !can {
		e.skip("the backend has no way to make kubelets fall silent")
	}
	resume, err := pauser.PauseKubelets(ctx)
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	e.resumeKubelets = resume
}

// ResumeKubelets lets kubelets that are paused go on.
func (e *Env) ResumeKubelets(ctx context.Context) {
	if err := e.letKubeletsGoOn(ctx); err != nil {
		e.fail(ctx, "resuming the kubelets: %w", err)
	}
}

// letKubeletsGoOn resumes the kubelets if they are paused; a clean-up needs them.
func (e *Env) letKubeletsGoOn(context.Context) error {
	if e.resumeKubelets == nil {
		return nil
	}
	resume := e.resumeKubelets
	e.resumeKubelets = nil
	return resume()
}
