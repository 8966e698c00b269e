"""Perfetto's own definition of traces reads ours."""

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

import copyback

pytestmark = pytest.mark.once


def test_a_trace_is_read_by_perfettos_messages(tmp_path):
    path = tmp_path / "run.pftrace"
    kept = copyback.run(workload="mixed-70-30", requests=1000, perfetto=path, perfetto_for="10 s", keep=["requests"])
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    # A field of another number or kind would be unknown, and lost.
    assert trace.SerializeToString() == path.read_bytes()
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    kinds = perfetto_trace_pb2.TrackEvent
    begun = [packet for packet in events if packet.track_event.type == kinds.TYPE_SLICE_BEGIN]
    ended = [packet for packet in events if packet.track_event.type == kinds.TYPE_SLICE_END]
    assert len(begun) == len(ended) > 1000
    own = [packet for packet in begun if tracks[packet.track_event.track_uuid].name.startswith("requests")]
    requests = pl.DataFrame(kept.requests)
    assert sorted(packet.timestamp for packet in own) == requests["arrival_ns"].sort().to_list()
    counters = {
        tracks[packet.track_event.track_uuid].name for packet in events if packet.track_event.type == kinds.TYPE_COUNTER
    }
    assert "dies collecting" in counters
    names = {track.name for track in tracks.values()}
    assert {"host", "state", "flash", "channel 0", "die 0", "plane 0"} <= names
