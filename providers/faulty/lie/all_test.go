package lie

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

func TestSeveralLiesAreToldAtATime(t *testing.T) {
	var told []string
	tells := func(name string) Lie {
		tell := func() { told = append(told, name) }
		return Lie{
			Cloud: func(p cloudprovider.CloudProvider, _ client.Client) cloudprovider.CloudProvider {
				tell()
				return p
			},
			Client:   func(c client.Client) client.Client { tell(); return c },
			Settings: map[string]string{name: "on", "LAST": name},
			CRD:      func(CRD) { tell() },
		}
	}
	failed := errors.New("the sabotage ended")
	sabotage := Lie{Sabotage: func(context.Context, client.Client) error { return failed }}
	all := All(tells("a"), Lie{}, sabotage, tells("b"))
	all.Cloud(nil, nil)
	all.Client(nil)
	all.CRD(nil)
	if want := []string{"a", "b", "a", "b", "a", "b"}; !slices.Equal(told, want) {
		t.Errorf("it told %v, want %v", told, want)
	}
	if want := (map[string]string{"a": "on", "b": "on", "LAST": "b"}); !maps.Equal(all.Settings, want) {
		t.Errorf("the settings are %v, want %v", all.Settings, want)
	}
	if err := all.Sabotage(t.Context(), nil); !errors.Is(err, failed) {
		t.Errorf("its sabotage returned %v, want %v", err, failed)
	}
	if all.Instances != nil || all.Controllers != nil || all.NodeClass != nil {
		t.Error("what no lie sets is not honest")
	}
	waits := Lie{Sabotage: func(ctx context.Context, _ client.Client) error { <-ctx.Done(); return nil }}
	if err := All(waits, sabotage).Sabotage(t.Context(), nil); !errors.Is(err, failed) {
		t.Errorf("two sabotages returned %v, want %v", err, failed)
	}
}

func TestNoLiesAreHonest(t *testing.T) {
	if l := All(); l.Cloud != nil || l.Client != nil || l.Sabotage != nil || len(l.Settings) > 0 {
		t.Errorf("no lies are %v, want an honest provider", l)
	}
}
