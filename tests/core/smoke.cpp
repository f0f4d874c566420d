#include <doctest/doctest.h>
#include <cmath>
#include "backend/backend.h"
#include "data/random.h"
#include "variants/variant.h"
#include <chrono>
#include <cstdio>
using namespace fovea;
TEST_CASE("exact smoke") {
  for (const char* isa : {"sse2","avx2","avx512"}) {
  auto backend = make_cpu_backend({.isa=isa});
  for (Index n : {1, 2, 65, 200}) for (Index d : {1,3,64}) for (bool causal : {false,true}) {
    Random rng(1,2);
    Matrix q(n,d), k(n,d), v(n,d);
    for (Matrix* m : {&q,&k,&v}) for (Index i=0;i<n;++i) for (Index c=0;c<d;++c) (*m)(i,c)=static_cast<float>(2*rng.normal());
    Problem p = make_problem(q,k,v,0,causal);
    Profile profile; Run run{profile}; Structure given;
    Planning planning{*backend, run, 0, given};
    auto plan = std::make_shared<Plan>(find_variant("exact").plan(p, {}, planning));
    auto op = backend->bind(plan, p, run);
    auto out = op->apply(p.v, run);
    Matrix P = op->tile({0,n},{0,n},run);
    double worst=0, worst_p=0;
    for (Index i=0;i<n;++i){ std::vector<double> w(n); double m=-1e300,s=0; 
      for (Index j=0;j<n;++j){ if(causal&&j>i){w[j]=-INFINITY;continue;} double x=0; for(Index c=0;c<d;++c) x+=double(q(i,c))*k(j,c); w[j]=x*p.scale; m=std::max(m,w[j]); }
      for (auto& x:w) {x=std::exp(x-m); s+=x;}
      for (Index c=0;c<d;++c){ double z=0; for(Index j=0;j<n;++j) z+=w[j]/s*v(j,c); worst=std::max(worst,std::abs(z-out.z(i,c)));}
      for (Index j=0;j<n;++j) worst_p=std::max(worst_p,std::abs(w[j]/s-P(i,j)));
    }
    CHECK(worst<2e-5); CHECK(worst_p<1e-5);
  }
  }
}
TEST_CASE("speed") {
  for (const char* isa : {"sse2","avx2","avx512"}) {
  auto backend = make_cpu_backend({.isa=isa});
  Index n=4096,d=64;
    Random rng(1,2);
    Matrix q(n,d), k(n,d), v(n,d);
    for (Matrix* m : {&q,&k,&v}) for (Index i=0;i<n;++i) for (Index c=0;c<d;++c) (*m)(i,c)=static_cast<float>(rng.normal());
    Problem p = make_problem(q,k,v);
    for (int r=0;r<5;++r){
    Profile profile; Run run{profile}; Structure given;
    Planning planning{*backend, run, 0, given};
    auto plan = std::make_shared<Plan>(find_variant("exact").plan(p, {}, planning));
    auto op = backend->bind(plan, p, run);
    auto out = op->apply(p.v, run);
    double t=profile.total_ms(); 
    auto P = op->tile({0,n},{0,n},{Pool::Kind::max,512,512},run);
    std::printf("%s %.1f ms %.0f GF/s; tile total %.1f\n",isa,t, 4.0*n*n*d/t/1e6, profile.total_ms()-t);}
  }
}
