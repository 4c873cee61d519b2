package env

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plumbline-e2e/plumbline/providers"
)

// TypeLabels are the labels that an instance's node has by the instance's type, as the
// provider's cloud knows them: by the hook nodeLabels, without which the spec is skipped.
func (e *Env) TypeLabels(ctx context.Context, providerID string) map[string]string {
	if ok, why := e.place.Adapter.Has(providers.NodeLabels); !ok {
		e.skip("%s", why)
	}
	answer, err := e.place.Provider.Call(ctx, providers.NodeLabels, e.hookValues(providers.HookValues{ProviderID: providerID}))
	labels := map[string]string{}
	if err == nil {
		if err = json.Unmarshal(answer, &labels); err != nil {
			err = fmt.Errorf("hook %s: its answer %.100q is no JSON object of labels: %w", providers.NodeLabels, answer, err)
		}
	}
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	return labels
}
