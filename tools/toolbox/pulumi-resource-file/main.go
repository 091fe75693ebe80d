// A provider of Pulumi for tests: its resource is a file on disk, which it really reads, writes and deletes, and
// on request it fails or hangs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// Version is stamped by the recipe.
var version = "0.0.0"

const schema = `{
  "name": "file",
  "version": "%s",
  "resources": {
    "file:index:File": {
      "description": "A file. Its mode: fail, hang, hang-after the work, keep, or wait for a file of its name with .gate.",
      "inputProperties": {
        "path": { "type": "string" },
        "content": { "type": "string" },
        "mode": { "type": "string" }
      },
      "requiredInputs": ["path", "content"],
      "properties": {
        "path": { "type": "string" },
        "content": { "type": "string" },
        "mode": { "type": "string" },
        "size": { "type": "integer" }
      },
      "required": ["path", "content", "size"]
    }
  }
}`

type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	canceled chan struct{}
	once     sync.Once
}

func unmarshal(properties *structpb.Struct) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(properties, plugin.MarshalOptions{KeepUnknowns: true, SkipNulls: true})
}

func marshal(properties resource.PropertyMap) (*structpb.Struct, error) {
	return plugin.MarshalProperties(properties, plugin.MarshalOptions{KeepUnknowns: true, SkipNulls: true})
}

func text(properties resource.PropertyMap, key resource.PropertyKey) string {
	value := properties[key]
	if value.IsString() {
		return value.StringValue()
	}
	return ""
}

func outputs(inputs resource.PropertyMap) resource.PropertyMap {
	result := inputs.Copy()
	if inputs["content"].IsString() {
		result["size"] = resource.NewProperty(float64(len(text(inputs, "content"))))
	}
	return result
}

// Writes a file in the way that its mode says.
func (p *provider) write(inputs resource.PropertyMap) error {
	if err := p.obey(inputs, "hang"); err != nil {
		return err
	}
	if text(inputs, "mode") == "wait" {
		if err := p.pass(text(inputs, "path") + ".gate"); err != nil {
			return err
		}
	}
	if text(inputs, "mode") == "fail" {
		return status.Errorf(codes.Unknown, "%s cannot be written: the mode is fail", text(inputs, "path"))
	}
	if err := os.WriteFile(text(inputs, "path"), []byte(text(inputs, "content")), 0o666); err != nil {
		return err
	}
	// Runs may have different users; that of the file is the first one.
	_ = os.Chmod(text(inputs, "path"), 0o666)
	return p.obey(inputs, "hang-after")
}

// Waits until a file is there.
func (p *provider) pass(gate string) error {
	for {
		if _, err := os.Stat(gate); err == nil {
			return nil
		}
		select {
		case <-p.canceled:
			return status.Errorf(codes.Canceled, "%s: canceled", gate)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Waits until the engine cancels, where the mode is this one.
func (p *provider) obey(inputs resource.PropertyMap, mode string) error {
	if text(inputs, "mode") != mode {
		return nil
	}
	select {
	case <-p.canceled:
		return status.Errorf(codes.Canceled, "%s: canceled", text(inputs, "path"))
	case <-time.After(10 * time.Minute):
		return errors.New("nobody has canceled")
	}
}

func (p *provider) GetSchema(
	context.Context, *pulumirpc.GetSchemaRequest,
) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: fmt.Sprintf(schema, version)}, nil
}

func (p *provider) CheckConfig(
	_ context.Context, request *pulumirpc.CheckRequest,
) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: request.GetNews()}, nil
}

func (p *provider) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{}, nil
}

func (p *provider) Configure(
	context.Context, *pulumirpc.ConfigureRequest,
) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

func (p *provider) Check(
	_ context.Context, request *pulumirpc.CheckRequest,
) (*pulumirpc.CheckResponse, error) {
	inputs, err := unmarshal(request.GetNews())
	if err != nil {
		return nil, err
	}
	failures := []*pulumirpc.CheckFailure{}
	if inputs["path"].IsString() && text(inputs, "path") == "" {
		failures = append(failures, &pulumirpc.CheckFailure{Property: "path", Reason: "path is empty"})
	}
	return &pulumirpc.CheckResponse{Inputs: request.GetNews(), Failures: failures}, nil
}

func (p *provider) Diff(
	_ context.Context, request *pulumirpc.DiffRequest,
) (*pulumirpc.DiffResponse, error) {
	old, err := unmarshal(request.GetOldInputs())
	if err != nil {
		return nil, err
	}
	wanted, err := unmarshal(request.GetNews())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.DiffResponse{
		Changes:         pulumirpc.DiffResponse_DIFF_NONE,
		DetailedDiff:    map[string]*pulumirpc.PropertyDiff{},
		HasDetailedDiff: true,
	}
	for _, key := range []resource.PropertyKey{"path", "content", "mode"} {
		if old[key].DeepEquals(wanted[key]) {
			continue
		}
		response.Changes = pulumirpc.DiffResponse_DIFF_SOME
		response.Diffs = append(response.Diffs, string(key))
		kind := pulumirpc.PropertyDiff_UPDATE
		if key == "path" {
			kind = pulumirpc.PropertyDiff_UPDATE_REPLACE
			response.Replaces = append(response.Replaces, string(key))
		}
		response.DetailedDiff[string(key)] = &pulumirpc.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return response, nil
}

func (p *provider) Create(
	_ context.Context, request *pulumirpc.CreateRequest,
) (*pulumirpc.CreateResponse, error) {
	inputs, err := unmarshal(request.GetProperties())
	if err != nil {
		return nil, err
	}
	if !request.GetPreview() {
		if err := p.write(inputs); err != nil {
			return nil, err
		}
	}
	made, err := marshal(outputs(inputs))
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CreateResponse{Id: text(inputs, "path"), Properties: made}, nil
}

func (p *provider) Update(
	_ context.Context, request *pulumirpc.UpdateRequest,
) (*pulumirpc.UpdateResponse, error) {
	inputs, err := unmarshal(request.GetNews())
	if err != nil {
		return nil, err
	}
	if !request.GetPreview() {
		if err := p.write(inputs); err != nil {
			return nil, err
		}
	}
	made, err := marshal(outputs(inputs))
	if err != nil {
		return nil, err
	}
	return &pulumirpc.UpdateResponse{Properties: made}, nil
}

func (p *provider) Read(
	_ context.Context, request *pulumirpc.ReadRequest,
) (*pulumirpc.ReadResponse, error) {
	inputs, err := unmarshal(request.GetInputs())
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(request.GetId())
	if errors.Is(err, fs.ErrNotExist) {
		return &pulumirpc.ReadResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	inputs["path"] = resource.NewProperty(request.GetId())
	inputs["content"] = resource.NewProperty(string(content))
	found, err := marshal(inputs)
	if err != nil {
		return nil, err
	}
	properties, err := marshal(outputs(inputs))
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ReadResponse{Id: request.GetId(), Inputs: found, Properties: properties}, nil
}

func (p *provider) Delete(_ context.Context, request *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	inputs, err := unmarshal(request.GetProperties())
	if err != nil {
		return nil, err
	}
	if text(inputs, "mode") == "keep" {
		return nil, status.Errorf(codes.Unknown, "%s cannot be deleted: the mode is keep", request.GetId())
	}
	if err := os.Remove(request.GetId()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

func (p *provider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	p.once.Do(func() { close(p.canceled) })
	return &emptypb.Empty{}, nil
}

func (p *provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

func (p *provider) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func main() {
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterResourceProviderServer(server, &provider{canceled: make(chan struct{})})
			return nil
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(handle.Port)
	if err := <-handle.Done; err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
