package sdktest

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/azure/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const (
	id     = "00000000-0000-0000-0000-000000000001"
	group  = "MC_group"
	region = "southcentralus"
	net    = "/subscriptions/" + id + "/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/net"
)

// subscription is a simulated subscription with clients of the SDK.
type subscription struct {
	*simulator.Base

	address string // host:port, for TLS
	client  *http.Client
	options *arm.ClientOptions
	vms     *armcompute.VirtualMachinesClient
	nics    *armnetwork.InterfacesClient
}

// anybody is a credential.
type anybody struct{}

func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func newSubscription(t *testing.T) *subscription {
	t.Helper()
	g := NewWithT(t)
	const moment = 20 * time.Millisecond
	s := &subscription{Base: simulator.NewBase(t.Context(), nil, simulator.Times{Pending: moment, Ending: moment}, 1)}
	c := cloud.New(s.Base, cloud.Settings{
		Region: region, Group: "/subscriptions/" + id + "/resourceGroups/" + group, Subnet: net + "/subnets/nodes",
		Pool: "/subscriptions/" + id + "/resourceGroups/" + aksGroup +
			"/providers/Microsoft.ContainerService/managedClusters/" + aks + "/agentPools/" + pool,
	})
	server := httptest.NewTLSServer(s.Handler(c))
	t.Cleanup(server.Close)
	s.address, s.client = server.Listener.Addr().String(), server.Client()
	s.options = &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud: sdk.Configuration{Services: map[sdk.ServiceName]sdk.ServiceConfiguration{
				sdk.ResourceManager: {Endpoint: server.URL, Audience: server.URL},
			}},
			Transport: s.client,
			Retry:     policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Millisecond, MaxRetryDelay: 5 * time.Second},
		},
		DisableRPRegistration: true,
	}
	var err error
	s.vms, err = armcompute.NewVirtualMachinesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	s.nics, err = armnetwork.NewInterfacesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// quickly polls long-running operations without waiting long.
func quickly() *runtime.PollUntilDoneOptions {
	return &runtime.PollUntilDoneOptions{Frequency: 5 * time.Millisecond}
}

// code returns the code of an error of ARM.
func code(err error) string {
	if e, is := errors.AsType[*azcore.ResponseError](err); is {
		return e.ErrorCode
	}
	return ""
}

// HaveCode matches errors by ARM's code.
func HaveCode(want string) OmegaMatcher { return WithTransform(code, Equal(want)) }

// createNIC creates a NIC and returns its ID.
func (s *subscription) createNIC(ctx context.Context, name string) (*string, error) {
	p, err := s.nics.BeginCreateOrUpdate(ctx, group, name, armnetwork.Interface{
		Location: new(region), Tags: map[string]*string{"karpenter.sh_nodepool": new("p")},
		Properties: &armnetwork.InterfacePropertiesFormat{EnableAcceleratedNetworking: new(true)},
	}, nil)
	if err != nil {
		return nil, err
	}
	nic, err := p.PollUntilDone(ctx, quickly())
	return nic.ID, err
}

// machine describes a virtual machine.
func machine(size, zone string, nic *string) armcompute.VirtualMachine {
	v := armcompute.VirtualMachine{
		Location: new(region),
		Tags:     map[string]*string{"karpenter.sh_nodepool": new("p")},
		Properties: &armcompute.VirtualMachineProperties{
			HardwareProfile: &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(size))},
			OSProfile: &armcompute.OSProfile{CustomData: new(base64.StdEncoding.EncodeToString([]byte(
				"KUBELET_FLAGS=\"--max-pods=30\"\nKUBELET_NODE_LABELS=\"a=b\"\n")))},
			Priority: new(armcompute.VirtualMachinePriorityTypesRegular),
		},
	}
	if zone != "" {
		v.Zones = []*string{&zone}
	}
	if nic != nil {
		v.Properties.NetworkProfile = &armcompute.NetworkProfile{
			NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{ID: nic}},
		}
	}
	return v
}

// launch begins to create a virtual machine.
func (s *subscription) launch(ctx context.Context, name string, v armcompute.VirtualMachine) error {
	_, err := s.vms.BeginCreateOrUpdate(ctx, group, name, v, nil)
	return err
}
