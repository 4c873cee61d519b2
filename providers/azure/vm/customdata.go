package vm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// variable matches what AKS's boot script hands to the kubelet.
var variable = regexp.MustCompile(`(?m)^(KUBELET_FLAGS|KUBELET_NODE_LABELS)="(.*)"$`)

// CustomData reads how a virtual machine's custom data, in base64, starts the kubelet.
func CustomData(encoded string) (simulator.Kubelet, error) {
	script, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return simulator.Kubelet{}, fmt.Errorf("the custom data is not base64: %w", err)
	}
	values := map[string]string{}
	for _, found := range variable.FindAllSubmatch(script, -1) {
		values[string(found[1])] = string(found[2])
	}
	if len(values) != 2 {
		return simulator.Kubelet{}, errors.New("the custom data does not set KUBELET_FLAGS and KUBELET_NODE_LABELS")
	}
	return simulator.ParseKubeletFlags(values["KUBELET_FLAGS"] + " --node-labels=" + values["KUBELET_NODE_LABELS"])
}
