package env

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Settings are values of the controller's settings, such as {karpenter.BatchIdleDuration: "5s"}.
type Settings map[karpenter.Setting]string

// Configure restarts the controller with other settings, once in a spec. The clean-up restores
// those from before.
func (e *Env) Configure(ctx context.Context, settings Settings) {
	variables := map[string]string{}
	for name, value := range settings {
		variables[string(name)] = value
		e.result.fields = e.result.fields.Union(sets.New("Controller." + string(name)))
	}
	err := e.announceRestart(ctx)
	if err == nil {
		e.configureBack, err = e.place.Provider.Configure(ctx, variables)
	}
	if err != nil {
		e.fail(ctx, "configuring the controller with %v: %w", variables, err)
	}
}

// restoreSettings gives the controller the settings from before the spec.
func (e *Env) restoreSettings(ctx context.Context) error {
	if e.configureBack == nil {
		return nil
	}
	if err := errors.Join(e.announceRestart(ctx), e.configureBack(ctx)); err != nil {
		return fmt.Errorf("restoring the controller's settings: %w", err)
	}
	e.configureBack = nil
	return nil
}

// announceRestart records that the controller is about to be restarted, so that it isn't blamed for what is late.
func (e *Env) announceRestart(ctx context.Context) error {
	return e.announce(ctx, invariant.ReasonKilled, "the controller is restarted with other settings")
}
