#include "hone/target/gpu/runner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "hone/target/bundle.h"

namespace hone::target::worker {

bool Contents::find(Driver& driver, const std::string& file, size_t bytes, size_t slack, Address& address) {
  for (const Input& input : inputs)
    if (input.file == file) return address = input.address, true;
  std::vector<char> host(bytes);
  std::FILE* const from = std::fopen(file.c_str(), "rb");
  const bool read = from && std::fread(host.data(), 1, bytes, from) == bytes;
  if (from) std::fclose(from);
  if (!read) return why = "the contents " + file + " cannot be read", false;
  Result result = driver.allocate(&address, bytes + slack);
  if (result == kSuccess) inputs.push_back({file, address, true});
  if (result == kSuccess) result = driver.upload(address, host.data(), bytes);
  if (result != kSuccess) why = driver.describe(result);
  return result == kSuccess;
}

void Contents::keep(Driver* driver, const GpuJob& job) {
  for (Input& input : inputs) {
    input.wanted = false;
    for (uint32_t i = 0; i < job.control.regions; ++i) input.wanted |= input.file == job.contents[i];
    if (!input.wanted) (void)driver->free(input.address);
  }
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [](const Input& input) { return !input.wanted; }), inputs.end());
}

bool GpuRunner::start() {
  if (const std::string why = row_.open(driver_, control_.card); !why.empty()) return broken(why);
  if (!ok(driver_->make_stream(&stream_))) return false;
  if (!ok(driver_->make_gate(&gate_, &gate_address_))) return false;
  *gate_ = 0;
  if (control_.flush_bytes <= 0) return true;
  return ok(driver_->allocate(&flush_, static_cast<size_t>(control_.flush_bytes))) && ok(driver_->load(&flushing_, driver_->reading())) &&
         ok(driver_->find(&read_, flushing_, gpu::kReadName)) && ok(driver_->find(&warm_, flushing_, gpu::kWarmName));
}

void GpuRunner::load_candidate(const std::vector<int>& descriptors) {
  control_.state = GpuState::kDone;
  if (descriptors.size() != 1 + control_.regions) {
    broken("descriptors are missing");
  } else {
    load_module(descriptors[0]) && map_regions(descriptors) && make_workspaces() && warm();
  }
  for (const int fd : descriptors) close(fd);
}

bool GpuRunner::launch_alone(const GpuJob& job, int fd, Contents& contents) {
  control_.state = GpuState::kDone;
  control_.device_ns = 0;
  poison_ = job.poison != 0;
  return load_module(fd, sizeof(GpuJob)) && own_regions(job, contents) && make_workspaces() && launch_once() && (!job.rounds || time_rounds(job.rounds));
}

std::vector<uint64_t> GpuRunner::counts() {
  Address address = 0;
  size_t bytes = 0;
  if (driver_->find_variable(&address, &bytes, module_with(kCountsName), kCountsName) != kSuccess) return {};
  std::vector<uint64_t> all(bytes / sizeof(uint64_t));
  if (!ok(driver_->download(all.data(), address, all.size() * sizeof(uint64_t)))) all.clear();
  return all;
}

void GpuRunner::unload() {
  control_.state = GpuState::kDone;
  for (const auto& [address, bytes] : workspaces_) (void)ok(driver_->free(address));
  workspaces_.clear();
  for (Shared& region : regions_) {
    if (region.handle) (void)ok(driver_->release(region));
    else if (region.bytes) (void)ok(driver_->free(region.address));
  }
  regions_.clear();
  (void)unload_modules();
}

bool GpuRunner::unload_modules() {
  bool all = true;
  for (const Module module : modules_) all &= ok(driver_->unload(module));
  modules_.clear();
  functions_.clear();
  return all;
}

bool GpuRunner::say(GpuState state, const std::string& why, bool outside) {
  control_.state = state;
  control_.outside = outside;
  std::snprintf(control_.why, sizeof control_.why, "%s", why.c_str());
  return false;
}

bool GpuRunner::failed(GpuState state, Result result, const std::string& before) {
  return say(state, before + driver_->describe(result), driver_->cause(result) == gpu::Cause::kIllegalAddress);
}

bool GpuRunner::load_module(int fd, int64_t from) {
  image_.assign(static_cast<size_t>(control_.image_bytes) + 1, 0);
  for (int64_t done = 0; done < control_.image_bytes;) {
    const ssize_t got = pread(fd, image_.data() + done, static_cast<size_t>(control_.image_bytes - done), from + done);
    if (got <= 0) return broken("the module's image cannot be read");
    done += got;
  }
  return load_image();
}

Module GpuRunner::module_with(std::string_view name) const {
  if (modules_.size() == 1) return modules_.front();
  const std::vector<std::string_view> images = binaries_in({image_.data(), image_.size() - 1});
  // A binary's names end in 0; in a text another name may begin so.
  for (const std::string& text : {std::string(name) + '\0', std::string(name)})
    for (size_t m = 0; m < modules_.size(); ++m)
      if (images[m].find(text) != std::string_view::npos) return modules_[m];
  return modules_.back();
}

bool GpuRunner::load_image() {
  for (const std::string_view image : binaries_in({image_.data(), image_.size() - 1})) {
    Module module = nullptr;
    if (const Result result = driver_->load(&module, image.data()); result != kSuccess)
      return refused(result, "the driver does not load the module: ");
    modules_.push_back(module);
  }
  if (modules_.empty()) return broken("the module's image is a damaged bundle");
  for (uint32_t i = 0; i < control_.symbols; ++i) {
    Function function = nullptr;
    if (const Result result = driver_->find(&function, module_with(control_.symbol[i]), control_.symbol[i]); result != kSuccess)
      return refused(result, std::string("the module has no function ") + control_.symbol[i] + ": ");
    functions_.push_back(function);
  }
  // One setting a function, whichever of its launches it is for.
  std::vector<uint32_t> shared(functions_.size()), cluster(functions_.size());
  for (uint32_t i = 0; i < control_.launches; ++i) {
    const GpuLaunch& launch = control_.launch[i];
    shared[launch.symbol] = std::max(shared[launch.symbol], launch.shared_bytes);
    cluster[launch.symbol] = std::max(cluster[launch.symbol], launch.cluster[0] * launch.cluster[1] * launch.cluster[2]);
  }
  for (size_t i = 0; i < shared.size(); ++i) {
    if (const Result result = driver_->allow_shared(functions_[i], shared[i]); result != kSuccess)
      return refused(result, std::to_string(shared[i]) + " bytes of dynamic shared memory for " + control_.symbol[i] + ": ");
    if (const Result result = driver_->allow_cluster(functions_[i], cluster[i]); result != kSuccess)
      return refused(result, "clusters of " + std::to_string(cluster[i]) + " blocks for " + control_.symbol[i] + ": ");
  }
  return true;
}

bool GpuRunner::scrub(uint64_t secret) {
  if (!unload_modules() || !load_image()) return false;
  const auto word = static_cast<uint32_t>(0x7FF17FF1 | (secret & 0x800F800F));
  for (const auto& [address, bytes] : workspaces_)
    if (!ok(driver_->fill(address, 0xFF, 1, bytes, stream_)) || !ok(driver_->fill(address, word, 4, bytes / 4, stream_))) return false;
  return ok(driver_->synchronise(stream_));
}

bool GpuRunner::map_regions(const std::vector<int>& descriptors) {
  for (uint32_t i = 0; i < control_.regions; ++i) {
    Shared region;
    if (!ok(driver_->import_from(descriptors[i + 1], region, static_cast<size_t>(control_.region[i].bytes))) ||
        !ok(driver_->map(region, control_.region[i].writable != 0, true)))
      return false;
    regions_.push_back(region);
  }
  return true;
}

bool GpuRunner::make_workspaces() {
  for (uint32_t i = 0; i < control_.workspaces; ++i) {
    Address address = 0;
    const auto bytes = static_cast<size_t>(std::max<int64_t>(16, control_.workspace[i].bytes));
    if (const Result result = driver_->allocate(&address, bytes); result != kSuccess)
      return refused(result, "a workspace of " + std::to_string(bytes) + " bytes: ");
    workspaces_.emplace_back(address, bytes);
    // Poison: NaN for every type of float.
    if (poison_ && !ok(driver_->fill(address, 0xFF, 1, bytes, stream_))) return false;
  }
  return true;
}

bool GpuRunner::own_regions(const GpuJob& job, Contents& contents) {
  for (uint32_t i = 0; i < control_.regions; ++i) {
    Shared region;
    const auto bytes = static_cast<size_t>(std::max<int64_t>(1, control_.region[i].bytes));
    if (job.contents[i][0]) {
      if (!contents.find(*driver_, job.contents[i], bytes, static_cast<size_t>(job.slack), region.address)) return broken(contents.why);
    } else {
      if (!ok(driver_->allocate(&region.address, bytes + static_cast<size_t>(job.slack)))) return false;
      region.bytes = bytes;
      if (poison_ && !ok(driver_->fill(region.address, 0xFF, 1, bytes, stream_))) return regions_.push_back(region), false;
    }
    regions_.push_back(region);
  }
  return true;
}

}  // namespace hone::target::worker
