package env

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// PauseKubelets pauses the kubelets of all nodes that the provider launches, until
// ResumeKubelets or the end of the spec. Meanwhile a status that PatchStatus sets stays, unless
// a kubelet's last write was on its way already. Kubernetes itself takes minutes to notice. A
// node that joins becomes ready only after the kubelets resume. The spec is skipped where the
// backend can't pause them.
func (e *Env) PauseKubelets(ctx context.Context) {
	pauser, can := e.place.Cluster.(cluster.Pauser)
	if !can {
		e.skip("the backend can't pause kubelets")
	}
	resume, err := pauser.PauseKubelets(ctx)
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	e.resumeKubelets = resume
}

// ResumeKubelets resumes paused kubelets.
func (e *Env) ResumeKubelets(ctx context.Context) {
	if err := e.letKubeletsGoOn(ctx); err != nil {
		e.fail(ctx, "resuming the kubelets: %w", err)
	}
}

// letKubeletsGoOn resumes the kubelets if they are paused. The clean-up needs them.
func (e *Env) letKubeletsGoOn(context.Context) error {
	if e.resumeKubelets == nil {
		return nil
	}
	resume := e.resumeKubelets
	e.resumeKubelets = nil
	return resume()
}
