// Fields as docs/facts/pc_sampling.md "JSON" has them. Keys are looked up in the order in which
// they are written, so that one comparison finds each: a sample has sixty.
#include "pc_sampling/json_samples.h"

#include <array>
#include <limits>

namespace perflab::pc_sampling {
namespace {

/// The keys of one kind of object, in the usual order.
template <std::size_t N>
class Keys {
 public:
  explicit constexpr Keys(const std::array<std::string_view, N>& names) : names_(names) {}

  /// The number of the key; N: it is none of these.
  std::size_t number(od::raw_json_string key) {
    if (next_ < N && key.unsafe_is_equal(names_[next_])) return next_++;
    for (std::size_t i = 0; i < N; ++i)
      if (key.unsafe_is_equal(names_[i])) {
        next_ = i + 1;
        return i;
      }
    return N;
  }
  void restart() { next_ = 0; }

 private:
  std::array<std::string_view, N> names_;
  std::size_t next_ = 0;
};

/// Calls visit(number, value) for each field of the object that `keys` has.
template <std::size_t N, class Visit>
void each_known_field(JsonCursor& cursor, od::object& object, Keys<N>& keys, const Visit& visit) {
  keys.restart();
  for (auto element : object) {
    od::field field;
    if (!cursor.good(std::move(element).get(field))) return;
    const std::size_t number = keys.number(field.key());
    if (number < N) visit(number, field.value());
    if (cursor.damaged()) return;
  }
}

/// Numbers of an object, by key; which of them there are, as bits.
template <std::size_t N>
std::uint32_t read_numbers(JsonCursor& cursor, od::value value, Keys<N>& keys,
                           std::array<std::uint64_t, N>& numbers) {
  static_assert(N <= 32);
  std::uint32_t there = 0;
  od::object object;
  if (!cursor.good(value.get_object().get(object))) return there;
  each_known_field(cursor, object, keys, [&](std::size_t number, od::value each) {
    if (cursor.good(each.get_uint64().get(numbers[number]))) there |= std::uint32_t{1} << number;
  });
  return there;
}

/// What a sample must have.
enum Part : std::uint32_t {
  kPc = 1,
  kExecMask = 2,
  kTimestamp = 4,
  kDispatch = 8,
  kHardware = 16,
  kWorkgroup = 32,
  kOfAll = 63,
  kWaveIssued = 64,
  kType = 128,
  kWaveCount = 256,
  kReason = 512,
  kOfStochastic = 1023,
};

class SampleReader {
 public:
  SampleReader(Builder& builder, JsonCursor& cursor, Method method)
      : builder_(builder), cursor_(cursor), method_(method) {}

  /// {"record": {…}, "inst_index": i}
  void take(od::object& object) {
    sample_ = {};
    parts_ = 0;
    each_known_field(cursor_, object, outer_, [&](std::size_t number, od::value value) {
      od::object record;
      std::int64_t index = -1;
      if (number == 0) {
        if (cursor_.good(value.get_object().get(record))) take_record(record);
      } else if (cursor_.good(value.get_int64().get(index))) {
        sample_.instruction = index;
      }
    });
    if (cursor_.damaged()) return;
    const std::uint32_t wanted = method_ == Method::stochastic ? kOfStochastic : kOfAll;
    if ((parts_ & wanted) != wanted) return builder_.dropped();
    builder_.add(sample_);
  }

 private:
  template <class T>
  T narrow(std::uint64_t value) {
    if (value <= std::numeric_limits<T>::max()) return static_cast<T>(value);
    ++builder_.samples().counts.value_out_of_range;
    return std::numeric_limits<T>::max();
  }

  bool number(od::value& value, std::uint64_t& to) {
    return cursor_.good(value.get_uint64().get(to));
  }
  bool small(od::value& value, std::uint8_t& to) {
    std::uint64_t wide = 0;
    if (!number(value, wide)) return false;
    to = narrow<std::uint8_t>(wide);
    return true;
  }
  void part(Part part, bool there) { parts_ |= there ? part : 0U; }

  void take_record(od::object& record) {
    each_known_field(cursor_, record, record_, [&](std::size_t key, od::value value) {
      std::uint64_t wide = 0;
      std::string_view name;
      switch (key) {
        case 0:
          if (read_numbers(cursor_, value, flags_, one_) != 0 && one_[0] != 0)
            sample_.flags |= kMemoryCounts;
          break;
        case 1:
          return take_hardware(value);
        case 2:
          return part(kPc, read_numbers(cursor_, value, pc_, two_) == 3 &&
                               (sample_.code_object_id = two_[0], sample_.offset = two_[1], true));
        case 3:
          return part(kExecMask, number(value, sample_.exec_mask));
        case 4:
          return part(kTimestamp, number(value, sample_.timestamp));
        case 5:
          return part(kDispatch, number(value, sample_.dispatch_id));
        case 6:
          return take_workgroup(value);
        case 7:
          static_cast<void>(small(value, sample_.wave_in_group));
          break;
        case 8:
          part(kWaveIssued, number(value, wide));
          if (wide != 0) sample_.flags |= kIssued;
          break;
        case 9:
          if (!cursor_.good(value.get_string().get(name))) break;
          sample_.type = builder_.type_of(name);
          return part(kType, true);
        case 10:
          return part(kWaveCount, small(value, sample_.wave_count));
        case 11:
          return take_snapshot(value);
        default:
          return take_memory(value);
      }
    });
  }

  void take_hardware(od::value& value) {
    std::array<std::uint64_t, 12> ids{};
    // The key of the workgroup is written with a space behind it, and documented without.
    if (read_numbers(cursor_, value, hardware_, ids) == 0) return;
    sample_.hardware = {.xcc = narrow<std::uint8_t>(ids[0]),
                        .shader_engine = narrow<std::uint8_t>(ids[6]),
                        .shader_array = narrow<std::uint8_t>(ids[5]),
                        .cu = narrow<std::uint8_t>(ids[4]),
                        .simd = narrow<std::uint8_t>(ids[2]),
                        .wave_slot = narrow<std::uint8_t>(ids[1]),
                        .workgroup_slot = narrow<std::uint8_t>(ids[7] | ids[11]),
                        .microengine = narrow<std::uint8_t>(ids[10]),
                        .pipe = narrow<std::uint8_t>(ids[3]),
                        .queue = narrow<std::uint8_t>(ids[9]),
                        .vm = narrow<std::uint8_t>(ids[8])};
    part(kHardware, true);
  }

  void take_workgroup(od::value& value) {
    std::array<std::uint64_t, 3> ids{};
    if (read_numbers(cursor_, value, workgroup_, ids) != 7) return;
    sample_.workgroup = {.x = narrow<std::uint32_t>(ids[0]),
                         .y = narrow<std::uint32_t>(ids[1]),
                         .z = narrow<std::uint32_t>(ids[2])};
    part(kWorkgroup, true);
  }

  void take_snapshot(od::value& value) {
    od::object snapshot;
    if (!cursor_.good(value.get_object().get(snapshot))) return;
    each_known_field(cursor_, snapshot, snapshot_, [&](std::size_t key, od::value field) {
      if (key == 0) {
        std::string_view name;
        if (!cursor_.good(field.get_string().get(name))) return;
        sample_.reason = builder_.reason_of(name);
        return part(kReason, true);
      }
      std::uint64_t bit = 0;
      if (key == kLockErrorKey) builder_.source().states_lock_errors = true;
      if (!number(field, bit) || bit == 0) return;
      if (key == 1) sample_.flags |= kDualIssue;
      if (key == kLockErrorKey) sample_.flags |= kLockError;
      if (key >= kIssueKey && key < kStallKey)
        sample_.arbiter_issue |= static_cast<std::uint16_t>(1U << (key - kIssueKey));
      if (key >= kStallKey && key < kLockErrorKey)
        sample_.arbiter_stall |= static_cast<std::uint16_t>(1U << (key - kStallKey));
    });
  }

  void take_memory(od::value& value) {
    std::array<std::uint64_t, 9> counts{};
    if (read_numbers(cursor_, value, memory_, counts) == 0) return;
    std::array<std::uint8_t, 9> few{};
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = narrow<std::uint8_t>(counts[i]);
    sample_.memory = {few[0], few[1], few[2], few[3], few[4], few[5], few[6], few[7], few[8]};
  }

  static constexpr std::size_t kIssueKey = 2, kStallKey = 12, kLockErrorKey = 22;

  Builder& builder_;
  JsonCursor& cursor_;
  Method method_;
  RawSample sample_;
  std::uint32_t parts_ = 0;  ///< Part bits that the sample has
  std::array<std::uint64_t, 1> one_{};
  std::array<std::uint64_t, 2> two_{};
  Keys<2> outer_{{"record", "inst_index"}};
  Keys<13> record_{{"flags", "hw_id", "pc", "exec_mask", "timestamp", "dispatch_id", "wrkgrp_id",
                    "wave_in_grp", "wave_issued", "inst_type", "wave_cnt", "snapshot",
                    "memory_counters"}};
  Keys<1> flags_{{"has_mem_cnt"}};
  Keys<2> pc_{{"code_object_id", "code_object_offset"}};
  Keys<12> hardware_{{"chiplet", "wave_id", "simd_id", "pipe_id", "cu_or_wgp_id", "shader_array_id",
                      "shader_engine_id", "workgroup_id ", "vm_id", "queue_id", "microengine_id",
                      "workgroup_id"}};
  Keys<3> workgroup_{{"x", "y", "z"}};
  Keys<23> snapshot_{{"stall_reason",
                      "dual_issue_valu",
                      "arb_state_issue_valu",
                      "arb_state_issue_matrix",
                      "arb_state_issue_lds",
                      "arb_state_issue_lds_direct",
                      "arb_state_issue_scalar",
                      "arb_state_issue_vmem_tex",
                      "arb_state_issue_flat",
                      "arb_state_issue_exp",
                      "arb_state_issue_misc",
                      "arb_state_issue_brmsg",
                      "arb_state_stall_valu",
                      "arb_state_stall_matrix",
                      "arb_state_stall_lds",
                      "arb_state_stall_lds_direct",
                      "arb_state_stall_scalar",
                      "arb_state_stall_vmem_tex",
                      "arb_state_stall_flat",
                      "arb_state_stall_exp",
                      "arb_state_stall_misc",
                      "arb_state_stall_brmsg",
                      "lck_err"}};
  Keys<9> memory_{{"load_cnt", "store_cnt", "bvh_cnt", "sample_cnt", "ds_cnt", "km_cnt",
                   "async_cnt", "tensor_cnt", "xnack_cnt"}};
};

}  // namespace

void add_samples(od::parser& parser, std::string_view elements, Method method, Builder& builder,
                 JsonCursor& cursor) {
  SampleReader reader(builder, cursor, method);
  const std::uint64_t others =
      each_object(parser, elements, cursor, [&](od::object& object) { reader.take(object); });
  builder.dropped(others);
}

}  // namespace perflab::pc_sampling
